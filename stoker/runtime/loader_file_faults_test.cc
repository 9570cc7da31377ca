// Shards that are deleted, replaced, truncated or overwritten while a loader reads them, however it reads and whether
// their descriptors stay open or not: what was opened goes on, or the run ends with a sentence that names the shard, or
// its samples are bad ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/file_access_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

// Fewer samples to a shard than may be bad by accident.
constexpr int kShards = 6, kSamplesPerShard = 7, kSamples = kShards * kSamplesPerShard, kEpochs = 3;
constexpr int kHurt = 3;  // the shard that it happens to

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The bytes of the shards, made once for all tests.
const std::vector<std::string>& shard_contents() {
  static const auto* const made = [] {
    const TempFolder folder;
    auto* contents = new std::vector<std::string>;
    for (int shard = 0, sample = 0; shard < kShards; ++shard) {
      const std::string path = folder.path("made.tar");
      TarWriter writer(path);
      for (int i = 0; i < kSamplesPerShard; ++i, ++sample) {
        const auto image = noisy_jpeg(40 + i % 5, 30 + i % 3, static_cast<std::uint64_t>(sample));
        writer.add(fmt::format("s{:02}.jpg", sample), image);
      }
      writer.finish();
      contents->push_back(content_of(path));
    }
    return contents;
  }();
  return *made;
}

void overwrite(const std::string& path) {
  const auto size = std::filesystem::file_size(path);
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out) << std::string(size, 'x');
}

void truncate_to_nothing(const std::string& path) { std::filesystem::resize_file(path, 512); }

void put_another_there(const std::string& path) {
  std::filesystem::copy_file(path, path + ".new");
  std::filesystem::rename(path + ".new", path);
}

struct OpenCase {
  FileWay way;
  bool all_stay_open;
};

class FileFaults : public ::testing::TestWithParam<OpenCase> {
 protected:
  void SetUp() override {
    if (const std::string why = why_not(GetParam().way); !why.empty()) GTEST_SKIP() << why;
    for (const std::string& content : shard_contents()) {
      shards_.push_back(folder_.write(fmt::format("shard{}.tar", shards_.size()), content));
    }
    FileAccess access = access_by(GetParam().way, std::make_shared<ThreadExecutor>(2));
    access.direct = GetParam().way.direct;
    access.open_files = std::make_shared<OpenFiles>(GetParam().all_stay_open ? 100 : 2);
    data_ = open_dataset(shards_, access, {.use = false});
    Loader loader(data_, small_recipe(), options(BadSlotPolicy::kSubstitute));
    whole_ = audit_of(loader, kEpochs);
  }

  static LoaderOptions options(BadSlotPolicy policy) {
    return {.batch = 6, .seed = 2, .threads = 2, .prefetch = 1, .bad_sample = policy, .epochs_end = kEpochs};
  }

  /// All that a loader delivers, to which `happens` after its second batch.
  Lines audit_while(const std::function<void()>& happens, BadSlotPolicy policy = BadSlotPolicy::kSubstitute) {
    Loader loader(data_, small_recipe(), options(policy));
    Lines lines;
    int batches = 0;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      for (const BatchPtr& batch : loader.epoch(epoch)) {
        for (std::string& line : audit_of(*batch)) lines.push_back(std::move(line));
        if (++batches == 2) happens();
      }
    }
    return lines;
  }

  /// Where descriptors stay open this is not noticed; else the shard is named by the error that says `why`.
  void expect_noticed_when_opened_again(const std::function<void()>& happens, ErrorKind kind, const std::string& why) {
    Watchdog watchdog;
    if (GetParam().all_stay_open) {
      EXPECT_EQ(audit_while(happens), whole_);
      return;
    }
    const Error error = error_of([&] { audit_while(happens); });
    EXPECT_EQ(error.kind(), kind);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(shards_[kHurt]), HasSubstr(why)));
  }

  const TempFolder folder_;
  std::vector<std::string> shards_;
  std::shared_ptr<const Dataset> data_;
  Lines whole_;  // what is delivered when nothing happens
};

TEST_P(FileFaults, ADeletedShardIsNamedWhenItIsToBeOpenedAgain) {
  expect_noticed_when_opened_again([&] { std::filesystem::remove(shards_[kHurt]); }, ErrorKind::kNotFound,
                                   "No such file");
}

TEST_P(FileFaults, AReplacedShardIsNamedWhenItIsToBeOpenedAgain) {
  expect_noticed_when_opened_again([&] { put_another_there(shards_[kHurt]); }, ErrorKind::kData, "was replaced");
}

TEST_P(FileFaults, ATruncatedShardIsNamed) {
  Watchdog watchdog;
  const Error error = error_of([&] { audit_while([&] { truncate_to_nothing(shards_[kHurt]); }); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.what(), AllOf(HasSubstr(shards_[kHurt]), HasSubstr("truncated while in use")));
}

TEST_P(FileFaults, AShardOfGarbageHasBadSamples) {
  Watchdog watchdog;
  const Lines seen = audit_while([&] { overwrite(shards_[kHurt]); });
  ASSERT_EQ(seen.size(), whole_.size());
  // What is read from then on is what a later loader reads.
  Loader later(data_, small_recipe(), options(BadSlotPolicy::kSubstitute));
  const Lines hurt = audit_of(later, kEpochs);
  int replaced = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_TRUE(seen[i] == whole_[i] || seen[i] == hurt[i]) << seen[i];
    EXPECT_TRUE(i < kSamples || seen[i] == hurt[i]) << "read after it happened: " << seen[i];
    replaced += seen[i] != whole_[i];
  }
  EXPECT_GE(replaced, (kEpochs - 1) * kSamplesPerShard);
  EXPECT_LE(replaced, kEpochs * kSamplesPerShard);
}

TEST_P(FileFaults, AShardOfGarbageIsSkippedOrNamedWhereThatIsWanted) {
  Watchdog watchdog;
  const Error error = error_of([&] { audit_while([&] { overwrite(shards_[kHurt]); }, BadSlotPolicy::kFail); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
  EXPECT_THAT(error.what(), AllOf(HasSubstr(shards_[kHurt]), HasSubstr("sample 's2")));
  const Lines rest = audit_while([] {}, BadSlotPolicy::kSkip);
  EXPECT_EQ(rest.size(), static_cast<std::size_t>(kEpochs * (kSamples - kSamplesPerShard)));
  EXPECT_TRUE(std::all_of(rest.begin(), rest.end(), [&](const std::string& line) {
    return std::find(whole_.begin(), whole_.end(), line) != whole_.end();
  }));
}

TEST_P(FileFaults, WhatIsInTheCacheOutlivesItsShards) {
  Watchdog watchdog;
  LoaderOptions cached = options(BadSlotPolicy::kSubstitute);
  cached.cache = CacheKind::kRam;
  Loader loader(data_, small_recipe(), cached);
  Lines seen;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (const BatchPtr& batch : loader.epoch(epoch)) {
      for (std::string& line : audit_of(*batch)) seen.push_back(std::move(line));
    }
    if (epoch != 1) continue;  // some of its samples were read while the first epoch's last ones were being kept
    overwrite(shards_[1]);
    truncate_to_nothing(shards_[3]);
    std::filesystem::remove(shards_[4]);
  }
  EXPECT_EQ(seen, whole_);
}

INSTANTIATE_TEST_SUITE_P(Ways, FileFaults, testing::ValuesIn([] {
                           std::vector<OpenCase> cases;
                           for (const FileWay& way : kFileWays) {
                             for (const bool all_stay_open : {true, false}) cases.push_back({way, all_stay_open});
                           }
                           return cases;
                         }()),
                         [](const auto& open) {
                           return open.param.way.name + (open.param.all_stay_open ? "" : "OpenedAgain");
                         });

}  // namespace
}  // namespace stoker
