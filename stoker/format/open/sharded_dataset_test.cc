#include "stoker/format/open/sharded_dataset.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/log_testing.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/temp_folder_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::shared_ptr<const Dataset> open(const std::vector<std::string>& data) {
  return open_dataset(data, std::make_shared<InlineExecutor>());
}

Error failure_to_open(const std::vector<std::string>& data) {
  return error_of([&] { open(data); });
}

std::vector<std::string> keys(const Dataset& data) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < data.size(); ++i) all.emplace_back(data.key(i));
  return all;
}

std::string read_image(const Dataset& data, std::int64_t sample) {
  const SampleRow row = data.row(sample);
  const SampleField& image = *row.image_field();
  std::string content(image.length, '?');
  read_fully(*row.source, image.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()}, image.part);
  return content;
}

std::string one_sample(std::string_view key) { return tar_member(fmt::format("{}.jpg", key), key) + tar_end(); }

ShardedDataset of_one(std::string_view key, std::int64_t label, std::uint64_t length, std::uint64_t offset = 0) {
  SampleTable samples;
  samples.add_sample(key, label);
  samples.add_field("json", "", 7, 7);
  samples.add_field("jpg", "", offset, length);
  return ShardedDataset(std::make_shared<MemorySource>("m", std::vector<std::uint8_t>()), std::move(samples), {});
}

TEST(ShardedDataset, FindsASamplesFieldsAndItsImage) {
  TempFolder folder;
  const auto data =
      open({folder.write("a.tar", tar_member("x.json", "{}") + tar_member("x.seg.png", "seg") +
                                      tar_member("x.jpg", "jpg") + tar_member("y.txt", "text") + tar_end())});
  ASSERT_EQ(data->size(), 2);
  EXPECT_THAT(data->field_names(), ElementsAre("json", "seg.png", "jpg", "txt"));
  const SampleRow first = data->row(0);
  EXPECT_EQ(first.field("jpg")->length, 3u);
  EXPECT_EQ(first.field("json")->length, 2u);
  EXPECT_FALSE(first.field("txt"));
  EXPECT_FALSE(first.field("no_such_field"));
  EXPECT_EQ(read_image(*data, 0), "jpg") << "the image itself, not one that says what else it is";
  EXPECT_FALSE(data->row(1).image_field());
  EXPECT_FALSE(first.facts);
  EXPECT_EQ(first.fields.size(), 3u);
  EXPECT_EQ(data->describe(1), folder.path("a.tar") + ", sample 'y'");
}

TEST(ShardedDataset, FingerprintChangesWithKeysLabelsSizesAndOrderOnly) {
  const std::uint64_t base = of_one("a", 1, 10).fingerprint();
  EXPECT_EQ(of_one("a", 1, 10, 5000).fingerprint(), base);
  EXPECT_NE(of_one("b", 1, 10).fingerprint(), base);
  EXPECT_NE(of_one("a", 2, 10).fingerprint(), base);
  EXPECT_NE(of_one("a", 1, 11).fingerprint(), base);
  const auto joined = [](std::vector<std::string> order) {
    SampleTable samples;
    for (const std::string& key : order) samples.add_sample(key, 0);
    return samples.fingerprint().value();
  };
  EXPECT_NE(joined({"a", "b"}), joined({"b", "a"}));
  EXPECT_NE(joined({"ab", "c"}), joined({"a", "bc"}));
}

TEST(ShardedDataset, FingerprintStaysWhatItWasWhenStatesWereSaved) {
  EXPECT_EQ(of_one("n01/a", 3, 12345).fingerprint(), 2139392027832487428u);
}

TEST(ShardedDataset, FolderAndItsTarHaveTheSameKeysLabelsAndFingerprint) {
  TempFolder folder;
  TarWriter writer(folder.path("packed.tar"));
  for (const char* key : {"a-b/1", "a/1", "a/2"}) {
    folder.write(fmt::format("loose/{}.jpg", key), key);
    writer.add(fmt::format("{}.jpg", key), as_bytes(key));
    writer.add(fmt::format("{}.cls", key), as_bytes(std::string_view(key).starts_with("a-b") ? "1" : "0"));
  }
  writer.finish();
  const auto loose = open({folder.path("loose")});
  const auto packed = open({folder.path("packed.tar")});
  EXPECT_EQ(keys(*loose), keys(*packed));
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(loose->label(i), packed->label(i));
    EXPECT_EQ(read_image(*loose, i), read_image(*packed, i));
  }
  EXPECT_EQ(loose->fingerprint(), packed->fingerprint());
  EXPECT_THAT(loose->classes(), ElementsAre("a", "a-b"));
  EXPECT_THAT(packed->classes(), IsEmpty());
}

TEST(OpenDataset, JoinsShardsInTheOrderGiven) {
  TempFolder folder;
  for (const char* key : {"a", "b", "c", "d"}) folder.write(fmt::format("{}.tar", key), one_sample(key));
  EXPECT_THAT(keys(*open({folder.path("{c,a}.tar"), folder.path("[d]*"), folder.path("b.tar")})),
              ElementsAre("c", "a", "d", "b"));
  const auto data = open({folder.path("*.tar")});
  EXPECT_THAT(keys(*data), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(read_image(*data, 2), "c");
  EXPECT_EQ(data->describe(3), folder.path("d.tar") + ", sample 'd'");
}

TEST(OpenDataset, CountsTheSamplesOfEachShard) {
  TempFolder folder;
  const std::string two = folder.write("two.tar", tar_member("a.jpg", "a") + tar_member("b.jpg", "b") + tar_end());
  const std::string none = folder.write("none.tar", tar_end());
  const std::string one = folder.write("one.tar", one_sample("c"));
  EXPECT_THAT(open({two, none, one, two})->shard_samples(), ElementsAre(2, 0, 1, 2));
}

TEST(OpenDataset, ReadsAListOfPathsRelativeToTheList) {
  TempFolder folder;
  for (const char* key : {"a", "b", "c"}) folder.write(fmt::format("lists/shards/{}.tar", key), one_sample(key));
  folder.write("lists/all.txt",
               "# the shards\n\n  shards/c.tar  \r\nshards/{a,b}.tar\n" + folder.path("lists/shards/c.tar"));
  EXPECT_THAT(keys(*open({folder.path("lists/all.txt")})), ElementsAre("c", "a", "b", "c"));
  folder.write("lists/marked.txt", "\xef\xbb\xbfshards/b.tar\n");
  EXPECT_THAT(keys(*open({folder.path("lists/marked.txt")})), ElementsAre("b")) << "with a byte order mark";
  folder.write("lists/none.txt", "# nothing yet\n");
  EXPECT_EQ(open({folder.path("lists/none.txt")})->size(), 0);
}

TEST(OpenDataset, NamesTheLineOfAListThatIsWrong) {
  TempFolder folder;
  folder.write("all.txt", "# one\nmissing.tar\n");
  const Error missing = failure_to_open({folder.path("all.txt")});
  EXPECT_EQ(missing.kind(), ErrorKind::kNotFound);
  EXPECT_THAT(missing.message(), AllOf(HasSubstr("all.txt', line 2"), HasSubstr(folder.path("missing.tar"))));
  folder.write("loop.txt", "loop.txt\n");
  EXPECT_THAT(failure_to_open({folder.path("loop.txt")}).message(), HasSubstr("loop.txt', line 1"));
}

TEST(OpenDataset, TakesAFolderOfTarsForItsShards) {
  TempFolder folder;
  folder.write("packed/1.TAR", one_sample("b"));
  folder.write("packed/0.tar", one_sample("a"));
  folder.write("packed/manifest.json", "{}");
  EXPECT_THAT(keys(*open({folder.path("packed")})), ElementsAre("a", "b"));
  std::filesystem::create_directories(folder.path("packed/lost+found"));
  EXPECT_THAT(keys(*open({folder.path("packed")})), ElementsAre("a", "b"));
  folder.write("packed/image.jpg", "x");
  const Error error = failure_to_open({folder.path("packed")});
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("image.jpg"), HasSubstr("packed/*.tar")));
  EXPECT_THAT(keys(*open({folder.path("packed/*.tar")})), ElementsAre("a"));
  folder.write("packed/lost+found/x.jpg", "x");
  EXPECT_THAT(keys(*open({folder.path("packed")})), ElementsAre("lost+found/x")) << "class folders count";
}

TEST(OpenDataset, WarnsOfShardsInFoldersBelowTheOnesThatItTakes) {
  TempFolder folder;
  folder.write("0.tar", one_sample("a"));
  folder.write("sub/deep/1.tar", one_sample("b"));
  folder.write(".old/2.tar", one_sample("c"));
  const LogCapture log;
  EXPECT_THAT(keys(*open({folder.path()})), ElementsAre("a"));
  EXPECT_THAT(log.lines, ElementsAre(AllOf(HasSubstr("directly in it (1)"), HasSubstr("sub/deep/1.tar"))));
}

TEST(OpenDataset, NamesThePatternOfShardsThatLieBesideImages) {
  for (const auto& [shard, pattern] :
       {std::pair("a.parquet", "'PLACE/*.parquet'"), {"train-00000-of-00002", "'PLACE/*-of-*'"}}) {
    TempFolder folder;
    folder.write(shard, "x");
    folder.write("image.jpg", "x");
    std::string expected = pattern;
    expected.replace(expected.find("PLACE"), 5, folder.path());
    EXPECT_THAT(failure_to_open({folder.path()}).message(), AllOf(HasSubstr(shard), HasSubstr(expected)));
  }
}

TEST(OpenDataset, FindsItsShardsAfterTheProcessWentElsewhere) {
  TempFolder folder;
  folder.write("data/0.tar", one_sample("a"));
  Manifest manifest;
  {
    const auto data = open({folder.path("data")});
    manifest.shards.push_back({.name = "0.tar",
                               .bytes = std::filesystem::file_size(folder.path("data/0.tar")),
                               .samples = 1,
                               .sample_bytes = data->bytes(),
                               .fingerprint = Fingerprint(data->fingerprint(), 1)});
  }
  folder.write("data/manifest.json", manifest.to_json());
  const int status = status_in_child([&] {
    std::filesystem::current_path(folder.path());
    const auto data = open({"data"});
    std::filesystem::current_path("/");
    return data->key(0) == "a" ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(OpenDataset, OpensDataWithoutSamples) {
  TempFolder folder;
  std::filesystem::create_directories(folder.path("empty"));
  EXPECT_EQ(open({folder.path("empty")})->size(), 0);
  EXPECT_EQ(open({folder.write("empty.tar", tar_end())})->size(), 0);
  EXPECT_EQ(open({})->size(), 0);
}

TEST(OpenDataset, JoinsFoldersWithTheSameClassesOnly) {
  TempFolder folder;
  for (const char* name : {"1/a/x.jpg", "1/b/x.jpg", "2/a/y.jpg", "2/b/y.jpg", "3/a/x.jpg", "3/c/x.jpg"})
    folder.write(name, "x");
  const auto data = open({folder.path("1"), folder.path("2")});
  EXPECT_THAT(keys(*data), ElementsAre("a/x", "b/x", "a/y", "b/y"));
  EXPECT_THAT(data->classes(), ElementsAre("a", "b"));
  EXPECT_EQ(data->label(3), 1);
  const Error error = failure_to_open({folder.path("1"), folder.path("3")});
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(folder.path("1")), HasSubstr(folder.path("3")), HasSubstr("classes")));
  EXPECT_EQ(failure_to_open({folder.path("1"), folder.write("t.tar", one_sample("a"))}).kind(), ErrorKind::kData);
}

TEST(OpenDataset, NamesWhatIsNotThere) {
  const Error error = failure_to_open({"/no/such/data"});
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  EXPECT_THAT(error.message(), HasSubstr("/no/such/data"));
}

TEST(OpenDataset, RefusesPipesWithoutWaiting) {
  TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe.tar").c_str(), 0600), 0);
  const Error error = failure_to_open({folder.path("pipe.tar")});
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("pipe.tar"), HasSubstr("is a pipe")));
  EXPECT_EQ(failure_to_open({"-"}).kind(), ErrorKind::kUsage);
}

TEST(OpenDataset, SaysWhichKindsOfDataItKnows) {
  TempFolder folder;
  const Error error = failure_to_open({folder.write("x.bin", std::string(100, '\0'))});
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("x.bin"), HasSubstr("folder, tar")));
  EXPECT_THAT(failure_to_open({folder.write("empty", "")}).message(), HasSubstr("is empty"));
}

TEST(OpenDataset, NamesADamagedShardAmongGoodOnes) {
  TempFolder folder;
  folder.write("0.tar", one_sample("a"));
  folder.write("1.tar", one_sample("b").substr(0, 700));
  const Error error = failure_to_open({folder.path("{0..1}.tar")});
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(folder.path("1.tar")), HasSubstr("truncated")));
}

TEST(OpenDataset, OpensShardsSideBySideAsOneAfterAnother) {
  TempFolder folder;
  for (int i = 0; i < 40; ++i) folder.write(fmt::format("{:02}.tar", i), one_sample(fmt::format("k{}", i)));
  const auto opening = std::make_shared<ThreadExecutor>(4);
  const auto executor = std::make_shared<InlineExecutor>();
  const auto together = open_dataset({folder.path("*.tar")}, executor, {}, {}, opening);
  const auto alone = open_dataset({folder.path("*.tar")}, executor);
  EXPECT_EQ(keys(*together), keys(*alone));
  EXPECT_EQ(together->fingerprint(), alone->fingerprint());
  for (const int bad : {31, 7}) folder.write(fmt::format("{:02}.tar", bad), "no tar");
  const Error error = error_of([&] { open_dataset({folder.path("*.tar")}, executor, {}, {}, opening); });
  EXPECT_THAT(error.message(), HasSubstr("07.tar")) << "the first in order, whichever failed first";
}

}  // namespace
}  // namespace stoker
