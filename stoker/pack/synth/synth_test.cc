#include "stoker/pack/synth/synth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/codec/image_encoder.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/pack/synth/synth_image.h"
#include "stoker/pack/synth/synth_output.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

SynthOptions tiny(std::int64_t count, std::int64_t classes, SynthFormat format = SynthFormat::kFolder) {
  SynthOptions options;
  options.kind = SynthKind::kTiny;
  options.format = format;
  options.count = count;
  options.classes = classes;
  return options;
}

std::string content_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Every file below `root`, by its path relative to that.
std::map<std::string, std::string> tree(const std::string& root) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) files[fs::relative(entry.path(), root).string()] = content_of(entry.path());
  }
  return files;
}

std::vector<std::string> entries(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

TEST(Synth, WritesTheSameBytesForAnyThreadCount) {
  const TempFolder folder;
  for (const SynthFormat format : {SynthFormat::kFolder, SynthFormat::kTar}) {
    for (const SynthKind kind : {SynthKind::kTiny, SynthKind::kImagenet}) {
      SynthOptions options = tiny(kind == SynthKind::kTiny ? 40 : 3, 3, format);
      options.kind = kind;
      std::map<std::string, std::string> first;
      for (const int threads : {1, 2, 8}) {
        const std::string out = folder.path(std::to_string(static_cast<int>(format)) +
                                            std::to_string(static_cast<int>(kind)) + std::to_string(threads));
        options.threads = threads;
        synthesize(out, options);
        if (threads == 1) {
          first = tree(out);
          EXPECT_EQ(first.size(), format == SynthFormat::kTar ? 1u : static_cast<std::size_t>(options.count));
        } else {
          EXPECT_EQ(tree(out), first) << threads << " threads";
        }
      }
    }
  }
}

TEST(Synth, SeedsMakeOtherImages) {
  const TempFolder folder;
  SynthOptions options = tiny(20, 2);
  std::set<std::string> images;
  for (options.seed = 0; options.seed < 2; ++options.seed) {
    const std::string out = folder.path(std::to_string(options.seed));
    synthesize(out, options);
    for (const auto& [path, content] : tree(out)) images.insert(content);
  }
  EXPECT_EQ(images.size(), 40u);
}

TEST(Synth, FolderAndTarHoldTheSameSamples) {
  const TempFolder folder;
  synthesize(folder.path("folder"), tiny(23, 5));
  synthesize(folder.path("one.tar"), tiny(23, 5, SynthFormat::kTar));
  const auto executor = std::make_shared<InlineExecutor>();
  const auto loose = open_dataset({folder.path("folder")}, executor);
  const auto packed = open_dataset({folder.path("one.tar")}, executor);
  ASSERT_EQ(loose->size(), 23);
  ASSERT_EQ(packed->size(), 23);
  const auto image = [](const Dataset& data, std::int64_t sample) {
    const SampleRow row = data.row(sample);
    const SampleField& field = *row.image_field();
    std::vector<std::uint8_t> bytes(field.length);
    read_fully(*row.source, field.offset, bytes, field.part);
    return bytes;
  };
  for (std::int64_t i = 0; i < 23; ++i) {
    EXPECT_EQ(loose->key(i), packed->key(i));
    EXPECT_EQ(loose->label(i), packed->label(i)) << loose->key(i);
    EXPECT_EQ(image(*loose, i), image(*packed, i)) << loose->key(i);
    std::vector<std::uint8_t> expected;
    encode_png(make_tiny(0, static_cast<std::uint64_t>(i), loose->label(i)).view(), expected);
    EXPECT_EQ(image(*loose, i), expected) << loose->key(i);
  }
}

TEST(Synth, BalancesClassesAndNumbersThem) {
  const TempFolder folder;
  synthesize(folder.path("out"), tiny(23, 5));
  const auto data = open_dataset({folder.path("out")}, std::make_shared<InlineExecutor>());
  EXPECT_THAT(data->classes(), testing::ElementsAre("c0000", "c0001", "c0002", "c0003", "c0004"));
  std::map<std::int64_t, int> count;
  for (std::int64_t i = 0; i < data->size(); ++i) {
    ++count[data->label(i)];
    EXPECT_EQ(data->key(i).substr(0, 5), data->classes()[static_cast<std::size_t>(data->label(i))]);
  }
  EXPECT_THAT(count, testing::ElementsAre(testing::Pair(0, 5), testing::Pair(1, 5), testing::Pair(2, 5),
                                          testing::Pair(3, 4), testing::Pair(4, 4)));
}

TEST(Synth, CutsTarsIntoShards) {
  const TempFolder folder;
  const auto output = make_tar_output(folder.path("out"), 2);
  const std::vector<std::uint8_t> image{1, 2, 3};
  for (int i = 0; i < 5; ++i) output->add({"c0", std::to_string(i), "jpg", 0, image});
  output->finish();
  EXPECT_THAT(entries(folder.path("out")),
              testing::UnorderedElementsAre("shard-000000.tar", "shard-000001.tar", "shard-000002.tar"));
  const auto data = open_dataset({folder.path("out/shard-000001.tar")}, std::make_shared<InlineExecutor>());
  ASSERT_EQ(data->size(), 2);
  EXPECT_EQ(data->key(0), "c0/2");
  EXPECT_EQ(data->key(1), "c0/3");
}

TEST(Synth, LeavesNothingOfTheFoldersItMadeWhenStopped) {
  const TempFolder folder;
  const std::atomic<bool> stop = true;
  for (const SynthFormat format : {SynthFormat::kFolder, SynthFormat::kTar}) {
    SynthOptions options = tiny(2, 1, format);
    options.stop = &stop;
    EXPECT_EQ(error_of([&] { synthesize(folder.path("new/newer/newest"), options); }).kind(), ErrorKind::kClosed);
    EXPECT_THAT(entries(folder.path()), testing::IsEmpty());
  }
}

TEST(Synth, FillsAnEmptyFolderAndRefusesAnother) {
  const TempFolder folder;
  fs::create_directory(folder.path("out"));
  synthesize(folder.path("out"), tiny(2, 1));
  const auto before = tree(folder.path("out"));
  for (const SynthFormat format : {SynthFormat::kFolder, SynthFormat::kTar}) {
    const Error error = error_of([&] { synthesize(folder.path("out"), tiny(2, 1, format)); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.message(), HasSubstr("'" + folder.path("out") + "' is not empty"));
  }
  EXPECT_EQ(tree(folder.path("out")), before);
}

TEST(Synth, RefusesAnExistingFile) {
  const TempFolder folder;
  const std::string plain = folder.write("plain", "text"), tar = folder.write("data.tar", "text");
  EXPECT_EQ(error_of([&] { synthesize(plain, tiny(2, 1)); }).kind(), ErrorKind::kUsage);
  EXPECT_EQ(error_of([&] { synthesize(plain, tiny(2, 1, SynthFormat::kTar)); }).kind(), ErrorKind::kUsage);
  const Error error = error_of([&] { synthesize(tar, tiny(2, 1, SynthFormat::kTar)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), HasSubstr("'" + tar + "' exists"));
  EXPECT_EQ(content_of(tar), "text");
}

TEST(Synth, RefusesOptionsThatMakeNoSense) {
  const TempFolder folder;
  const auto refuses = [&](const std::string& out, const SynthOptions& options, const char* word) {
    const Error error = error_of([&] { synthesize(out, options); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.message(), HasSubstr(word));
  };
  refuses(folder.path("out"), tiny(0, 1), "count");
  refuses(folder.path("out"), tiny(3, 0), "classes");
  refuses(folder.path("out"), tiny(3, 4), "classes");
  refuses(folder.path("out.tar"), tiny(3, 1), "format");
  refuses("", tiny(3, 1), "name");
  SynthOptions options = tiny(3, 1);
  options.threads = -1;
  refuses(folder.path("out"), options, "threads");
  EXPECT_THAT(entries(folder.path()), testing::IsEmpty());
}

TEST(Synth, NamesTheFolderItCannotCreate) {
  const TempFolder folder;
  const std::string below_a_file = folder.write("plain", "text") + "/out";
  const Error error = error_of([&] { synthesize(below_a_file, tiny(2, 1)); });
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  EXPECT_THAT(error.message(), HasSubstr(below_a_file));
}

TEST(Synth, StoppedLeavesNothingBehind) {
  const TempFolder folder;
  for (const char* name : {"out", "shards", "one.tar"}) {
    SynthOptions options = tiny(1'000'000, 10, name == std::string("out") ? SynthFormat::kFolder : SynthFormat::kTar);
    std::atomic<bool> stop{false};
    options.stop = &stop;
    std::int64_t last_done = 0;
    options.progress = [&](std::int64_t done, std::int64_t) {
      last_done = done;
      if (done == 7) stop = true;
    };
    EXPECT_EQ(error_of([&] { synthesize(folder.path(name), options); }).kind(), ErrorKind::kClosed);
    EXPECT_EQ(last_done, 7);
    EXPECT_THAT(entries(folder.path()), testing::IsEmpty()) << name;
  }
}

TEST(Synth, StoppedLeavesWhatOthersPutIntoItsFolders) {
  const TempFolder folder;
  for (const SynthFormat format : {SynthFormat::kFolder, SynthFormat::kTar}) {
    SynthOptions options = tiny(1'000'000, 10, format);
    std::atomic<bool> stop{false};
    options.stop = &stop;
    options.progress = [&](std::int64_t done, std::int64_t) {
      if (done != 7) return;
      folder.write("x/other/notes.txt", "of another program");
      stop = true;
    };
    EXPECT_EQ(error_of([&] { synthesize(folder.path("x/a"), options); }).kind(), ErrorKind::kClosed);
    EXPECT_EQ(content_of(folder.path("x/other/notes.txt")), "of another program");
    EXPECT_THAT(entries(folder.path("x")), testing::ElementsAre("other"));
    fs::remove_all(folder.path("x"));
  }
}

TEST(Synth, StoppedLeavesAFileOfAnotherAmongItsOwn) {
  const TempFolder folder;
  SynthOptions options = tiny(1'000'000, 10);
  std::atomic<bool> stop{false};
  options.stop = &stop;
  options.progress = [&](std::int64_t done, std::int64_t) {
    if (done != 7) return;
    folder.write("out/c0000/mine.txt", "of another program");
    stop = true;
  };
  EXPECT_EQ(error_of([&] { synthesize(folder.path("out"), options); }).kind(), ErrorKind::kClosed);
  EXPECT_THAT(tree(folder.path()), testing::ElementsAre(testing::Pair("out/c0000/mine.txt", "of another program")));
}

TEST(Synth, StoppedKeepsTheFolderThatWasThere) {
  const TempFolder folder;
  fs::create_directory(folder.path("out"));
  SynthOptions options = tiny(10, 2);
  const std::atomic<bool> stop{true};
  options.stop = &stop;
  EXPECT_EQ(error_of([&] { synthesize(folder.path("out"), options); }).kind(), ErrorKind::kClosed);
  EXPECT_THAT(entries(folder.path()), testing::ElementsAre("out"));
  EXPECT_THAT(entries(folder.path("out")), testing::IsEmpty());
}

TEST(Synth, ReportsProgressInOrder) {
  const TempFolder folder;
  SynthOptions options = tiny(12, 2);
  std::vector<std::int64_t> seen;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 12);
    seen.push_back(done);
  };
  synthesize(folder.path("out"), options);
  EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
}

}  // namespace
}  // namespace stoker
