// Packs that are stopped and go on, and packs that are called again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <utility>

#include "stoker/base/error_testing.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/pack_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class PackAgain : public PackOfTinyFolder {};

TEST_F(PackAgain, GoesOnFromItsLastWholeShardAfterAnyStop) {
  pack_to("whole", {.shard_bytes = 20'000, .threads = 2});
  const auto expected = files_below(folder_.path("whole"));
  for (std::int64_t stop_at = 1; stop_at <= 60; stop_at += 3) {
    const std::string name = fmt::format("stopped{}", stop_at);
    std::map<std::string, std::string> before;
    if (stop_at < 60) {
      stop_pack_to(name, {.shard_bytes = 20'000, .threads = 2}, stop_at);
      before = files_below(folder_.path(name));
      for (const auto& [file, bytes] : before) {
        EXPECT_FALSE(file.ends_with(".partial"));
        if (file.ends_with(".tar")) {
          EXPECT_EQ(bytes, expected.at(file));
        }
      }
    }
    const PackResult result = pack_to(name, {.shard_bytes = 20'000, .threads = 1});
    EXPECT_EQ(files_below(folder_.path(name)), expected) << "stopped after " << stop_at;
    EXPECT_EQ(result.samples, 60);
    const auto tars =
        std::count_if(before.begin(), before.end(), [](const auto& file) { return file.first.ends_with(".tar"); });
    EXPECT_EQ(result.resumed, tars);
  }
}

TEST_F(PackAgain, SaysFirstHowMuchAnEarlierCallDid) {
  std::vector<std::int64_t> told;
  std::stop_source stop;
  PackOptions options{.shard_bytes = 20'000, .stop = stop.get_token()};
  options.progress = [&](std::int64_t done, std::int64_t) {
    told.push_back(done);
    if (done >= 50) stop.request_stop();
  };
  EXPECT_EQ(error_of([&] { pack_to("out", options); }).kind(), ErrorKind::kClosed);
  EXPECT_EQ(told.front(), 0);
  told.clear();
  options.stop = {};
  pack_to("out", options);
  std::int64_t samples = 0;  // of the shards that were there
  const Manifest manifest = *Manifest::read({}, folder_.path("out"));
  for (const ManifestShard& shard : manifest.shards) {
    if (samples + shard.samples > 50) break;
    samples += shard.samples;
  }
  EXPECT_GT(samples, 20);
  EXPECT_EQ(told.front(), samples);
  EXPECT_EQ(told.back(), 60);
}

TEST_F(PackAgain, ForgetsShardsThatAreNoLongerThere) {
  pack_to("whole", {.shard_bytes = 20'000});
  const auto expected = files_below(folder_.path("whole"));
  stop_pack_to("out", {.shard_bytes = 20'000}, 50);
  ASSERT_TRUE(fs::remove(folder_.path("out/shard-000001.tar")));
  EXPECT_EQ(pack_to("out", {.shard_bytes = 20'000}).resumed, 1);
  EXPECT_EQ(files_below(folder_.path("out")), expected);
}

TEST_F(PackAgain, TakesATornJournalForWhatIsWholeOfIt) {
  pack_to("whole", {.shard_bytes = 20'000});
  const auto expected = files_below(folder_.path("whole"));
  stop_pack_to("begun", {.shard_bytes = 20'000}, 40);
  const std::string journal = read_file(folder_.path("begun/" + std::string(kJournalName)));
  ASSERT_GT(std::count(journal.begin(), journal.end(), '\n'), 2);
  for (std::size_t length = 0; length <= journal.size(); length += 37) {
    fs::copy(folder_.path("begun"), folder_.path("torn"), fs::copy_options::recursive);
    folder_.write("torn/" + std::string(kJournalName), journal.substr(0, length));
    pack_to("torn", {.shard_bytes = 20'000});
    EXPECT_EQ(files_below(folder_.path("torn")), expected) << "cut at " << length;
    fs::remove_all(folder_.path("torn"));
  }
}

TEST_F(PackAgain, TrustsNoLineOfTheJournalThatWasChanged) {
  pack_to("whole", {.shard_bytes = 20'000});
  stop_pack_to("out", {.shard_bytes = 20'000}, 40);
  const std::string name = "out/" + std::string(kJournalName);
  std::string journal = read_file(folder_.path(name));
  // Of the second shard: where the next begins.
  const std::size_t second = journal.find("\n", journal.find("\n") + 1);
  const std::size_t digit = journal.find("\"next\":", second) + 7;
  ASSERT_NE(journal.substr(digit, 1), "9");
  ++journal[digit];
  folder_.write(name, journal);
  EXPECT_EQ(pack_to("out", {.shard_bytes = 20'000}).resumed, 1);
  EXPECT_EQ(files_below(folder_.path("out")), files_below(folder_.path("whole")));
}

TEST_F(PackAgain, TakesCorrectedNamesOfClassesForAnotherPack) {
  const auto all = open(source_);
  const auto named = [&](std::string_view first) {
    std::string labels;
    for (std::int64_t i = 0; i < 60; ++i) labels += fmt::format("{},{}\n", all->key(i), i % 2 == 0 ? first : "dog");
    folder_.write("labels.csv", labels);
    return PackOptions{.labels = folder_.path("labels.csv"), .shard_bytes = 20'000};
  };
  stop_pack_to("begun", named("cta"), 40);
  EXPECT_EQ(error_of([&] { pack_to("begun", named("cat")); }).kind(), ErrorKind::kUsage);
  pack_to("out", named("cta"));
  EXPECT_GT(pack_to("out", named("cta")).resumed, 0);
  EXPECT_EQ(error_of([&] { pack_to("out", named("cat")); }).kind(), ErrorKind::kUsage);
}

TEST_F(PackAgain, LosesNoLaterShardToALineThatOnlyLacksItsEnd) {
  stop_pack_to("out", {.shard_bytes = 20'000}, 30);
  const std::string journal = folder_.path("out/" + std::string(kJournalName));
  fs::resize_file(journal, fs::file_size(journal) - 1);
  stop_pack_to("out", {.shard_bytes = 20'000}, 59);
  std::int64_t shards = 0;
  for (const auto& [file, bytes] : files_below(folder_.path("out"))) shards += file.ends_with(".tar");
  EXPECT_GT(shards, 2);
  EXPECT_EQ(pack_to("out", {.shard_bytes = 20'000}).resumed, shards);
}

TEST_F(PackAgain, LeavesAFolderToTheProcessThatPacksIntoIt) {
  bool tried = false;
  PackOptions options{.shard_bytes = 20'000};
  options.progress = [&](std::int64_t done, std::int64_t) {
    if (done < 30 || std::exchange(tried, true)) return;
    const Error error = error_of([&] { pack_to("out", {.shard_bytes = 20'000}); });
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_THAT(error.what(), HasSubstr("another process is packing"));
  };
  pack_to("out", options);
  EXPECT_TRUE(tried);
  pack_to("alone", {.shard_bytes = 20'000});
  EXPECT_EQ(files_below(folder_.path("out")), files_below(folder_.path("alone")));
}

TEST_F(PackAgain, RefusesToGoOnWithOtherOptionsOrChangedData) {
  stop_pack_to("out", {.shard_bytes = 20'000}, 40);
  const Error error = error_of([&] { pack_to("out", {.shard_bytes = 30'000}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("other options"));
  folder_.write("loose/c0000/new.png", as_text(noisy_png(8, 8, 1)));
  EXPECT_EQ(error_of([&] { pack_to("out", {.shard_bytes = 20'000}); }).kind(), ErrorKind::kUsage);
}

TEST_F(PackAgain, IsAnotherPackWithAnyOtherOption) {
  const PackOptions options{.transform = {.resize_short = 24, .quality = 80}, .classes = {"c0001"}, .shuffle = 1};
  pack_to("done", options);
  const auto expect_another = [&](const char* what, const auto& change) {
    PackOptions other = options;
    change(other);
    EXPECT_THAT(error_of([&] { pack_to("done", other); }).what(), HasSubstr("another packed data set")) << what;
  };
  expect_another("size", [](PackOptions& other) { other.shard_bytes = 1'000'000; });
  expect_another("short side", [](PackOptions& other) { other.transform.resize_short = 25; });
  expect_another("quality", [](PackOptions& other) { other.transform.quality = 81; });
  expect_another("raw", [](PackOptions& other) {
    other.transform.quality.reset();
    other.transform.raw = true;
  });
  expect_another("classes", [](PackOptions& other) { other.classes = {"c0002"}; });
  expect_another("all classes", [](PackOptions& other) { other.classes = {}; });
  expect_another("seed", [](PackOptions& other) { other.shuffle = 2; });
  expect_another("no seed", [](PackOptions& other) { other.shuffle.reset(); });
  expect_another("bad samples", [](PackOptions& other) { other.bad = BadSamplePolicy::kKeep; });
  EXPECT_EQ(pack_to("done", options).resumed, 1);
}

TEST_F(PackAgain, RefusesAManifestThatNamesABadSampleBeyondTheData) {
  pack_to("out");
  Manifest manifest = *Manifest::read({}, folder_.path("out"));
  manifest.bad = {{60, "no such sample", "a reason"}};
  folder_.write("out/manifest.json", manifest.to_json());
  EXPECT_THAT(error_of([&] { pack_to("out"); }).what(), HasSubstr("'no such sample'"));
}

TEST_F(PackAgain, NamesAShardThatAFinishedPackHasLost) {
  pack_to("out", {.shard_bytes = 20'000});
  const std::string last = folder_.path("out/" + Manifest::read({}, folder_.path("out"))->shards.back().name);
  fs::resize_file(last, fs::file_size(last) - 1);
  EXPECT_THAT(error_of([&] { pack_to("out", {.shard_bytes = 20'000}); }).what(), HasSubstr("has lost '"));
  fs::remove(last);
  EXPECT_THAT(error_of([&] { pack_to("out", {.shard_bytes = 20'000}); }).what(), HasSubstr("has lost '"));
}

TEST_F(PackAgain, RefusesToGoOnWithATarOfOtherBytes) {
  pack_to("tars", {.shard_bytes = 20'000});
  source_ = folder_.path("tars/*.tar");
  stop_pack_to("out", {.shard_bytes = 10'000}, 40);
  const std::string tar = folder_.path("tars/shard-000000.tar");
  folder_.write("tars/shard-000000.tar", read_file(tar));  // the same bytes, at another time
  const Error error = error_of([&] { pack_to("out", {.shard_bytes = 10'000}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("changed since"));
}

TEST_F(PackAgain, RefusesToGoOnWithALooseFileOfOtherBytes) {
  stop_pack_to("out", {.shard_bytes = 20'000}, 40);
  const std::string file = folder_.path("loose/c0000/0000001.png");
  std::string bytes = read_file(file);
  bytes[bytes.size() / 2] ^= 1;
  folder_.write("loose/c0000/0000001.png", bytes);
  const Error error = error_of([&] { pack_to("out", {.shard_bytes = 20'000}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("changed since"));
}

TEST_F(PackAgain, ReportsBadSamplesOfShardsThatAnEarlierCallMade) {
  folder_.write("loose/c0000/bad.jpg", "no picture");
  stop_pack_to("out", {.shard_bytes = 20'000}, 50);
  const PackResult result = pack_to("out", {.shard_bytes = 20'000});
  EXPECT_GT(result.resumed, 0);
  ASSERT_EQ(result.bad.size(), 1u);
  EXPECT_EQ(result.bad[0].key, "c0000/bad");
}

TEST_F(PackAgain, TellsTheSameWhenItIsCalledAgain) {
  for (const char* key : {"c0000/bad", "c0002/bad", "c0003/\xe9"}) {
    folder_.write(fmt::format("loose/{}.jpg", key), "no picture");
  }
  folder_.write("loose/c0001/hurt.jpg", as_text(hurt_jpeg()));
  const auto told = [](const PackResult& result) {
    std::string text = fmt::format("{} {} {} {}\n", result.samples, result.shards, result.bytes, result.concealed);
    for (const BadSample& bad : result.bad) {
      text += fmt::format("{} {} {} {}\n", bad.shard, bad.key, bad.offset, bad.reason);
    }
    return text;
  };
  for (const auto policy : {BadSamplePolicy::kSkip, BadSamplePolicy::kKeep}) {
    const std::string whole(to_string(policy)), halves = whole + "_halves";
    const PackOptions options{.shard_bytes = 20'000, .shuffle = 5, .bad = policy};
    const PackResult first = pack_to(whole, options);
    ASSERT_EQ(first.bad.size(), 3u);
    EXPECT_EQ(first.bad[0].key, "c0000/bad");
    EXPECT_EQ(first.bad[1].key, "c0002/bad") << "in the order of the source, not of the shuffle";
    EXPECT_EQ(first.bad[2].key, "c0003/\xe9");
    EXPECT_EQ(first.bad[0].shard, source_);
    EXPECT_EQ(first.concealed, 1);
    EXPECT_EQ(told(pack_to(whole, options)), told(first));

    stop_pack_to(halves, options, 50);
    EXPECT_EQ(told(pack_to(halves, options)), told(first));
    EXPECT_EQ(told(pack_to(halves, options)), told(first));
    EXPECT_EQ(files_below(folder_.path(halves)), files_below(folder_.path(whole)));
    EXPECT_EQ(read_file(folder_.path(whole + "/manifest.json")).find(folder_.path()), std::string::npos);
  }
}

}  // namespace
}  // namespace stoker
