// A loader whose disk fails, at each read of a small run or by chance: its batches are as without, or the run ends with
// a sentence that names the file.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/faulty_preadv_testing.h"
#include "stoker/storage/pread_io.h"
#include "stoker/storage/temp_folder_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Kind = PreadvFaults::Kind;
using Lines = std::vector<std::string>;

constexpr int kShards = 2, kSamplesPerShard = 9;

/// Loaders of two shards on a disk that is told when to fail.
class ReadFaults : public ::testing::Test {
 protected:
  void SetUp() override { write_shards({}); }
  void TearDown() override { set_preadv_faults({}); }

  /// Two of three samples lie too far from the next to be read together with it.
  void write_shards(const std::vector<int>& bad) {
    const std::string garbage(50, 'x'), padding(20'000, '\0');
    shards_.clear();
    for (int shard = 0, sample = 0; shard < kShards; ++shard) {
      shards_.push_back(folder_.path(fmt::format("shard{}.tar", shard)));
      TarWriter writer(shards_.back());
      for (int i = 0; i < kSamplesPerShard; ++i, ++sample) {
        const auto image = noisy_jpeg(40 + i % 5, 30 + i % 3, static_cast<std::uint64_t>(sample));
        const bool is_bad = std::find(bad.begin(), bad.end(), sample) != bad.end();
        writer.add(fmt::format("s{:02}.jpg", sample), is_bad ? as_bytes(garbage) : Bytes(image));
        if (i % 3 != 0) writer.add(fmt::format("s{:02}.txt", sample), as_bytes(padding));
      }
      writer.finish();
    }
  }

  std::shared_ptr<const Dataset> open_shards(int threads) const {
    const auto executor = threads == 1 ? std::shared_ptr<Executor>(std::make_shared<InlineExecutor>())
                                       : std::make_shared<ThreadExecutor>(threads);
    return open_dataset(shards_, FileAccess(executor, std::make_shared<PreadIo>(executor, &faulty_preadv)),
                        {.use = false});
  }

  static LoaderOptions options(int threads) { return {.batch = 3, .seed = 5, .threads = threads, .epochs_end = 1}; }

  Lines reference() const {
    set_preadv_faults({});
    Loader loader(open_shards(1), small_recipe(), options(1));
    return audit_of(loader, 1);
  }

  const TempFolder folder_;
  std::vector<std::string> shards_;
};

struct FaultCase {
  std::string name;
  Kind kind;
  bool for_good;
};

class EachRead : public ReadFaults, public ::testing::WithParamInterface<FaultCase> {};

TEST_P(EachRead, ThatFailsIsMadeAgainOrNamed) {
  const FaultCase& fault = GetParam();
  const Lines want = reference();
  Watchdog watchdog;
  for (const int threads : {1, 3}) {
    int told = 0;
    bool befell = true;
    for (std::int64_t number = 0; befell; ++number) {
      const std::string round = fmt::format("read {} failing with {} threads", number, threads);
      watchdog.begin(round);
      set_preadv_faults({.kind = fault.kind, .number = number, .for_good = fault.for_good});
      std::optional<Loader> loader;
      try {
        loader.emplace(open_shards(threads), small_recipe(), options(threads));
        ASSERT_EQ(audit_of(*loader, 1), want) << round;
        befell = preadv_calls() > number;
      } catch (const Error& error) {
        ++told;
        EXPECT_EQ(error.kind(), fault.kind == Kind::kEnd ? ErrorKind::kData : ErrorKind::kIo) << round;
        EXPECT_THAT(error.what(), AllOf(HasSubstr(folder_.path("shard")), HasSubstr(".tar"))) << round;
        if (!loader) continue;
        EXPECT_TRUE(fault.for_good || fault.kind == Kind::kEnd) << "once is made again: " << round;
        EXPECT_EQ(error_of([&] { loader->next(); }).message(), error.message()) << "it stays failed";
        set_preadv_faults({});
        EXPECT_EQ(audit_of(*loader, 1), want) << "begun anew after " << round;
      }
    }
    const bool is_usual = fault.kind == Kind::kShort || fault.kind == Kind::kInterrupted;
    EXPECT_EQ(told > 0, !is_usual);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, EachRead,
    testing::Values(FaultCase{"ErrorOnce", Kind::kError, false}, FaultCase{"ErrorForGood", Kind::kError, true},
                    FaultCase{"ShortOnce", Kind::kShort, false}, FaultCase{"ShortForGood", Kind::kShort, true},
                    FaultCase{"Interrupted", Kind::kInterrupted, false}, FaultCase{"EndOnce", Kind::kEnd, false},
                    FaultCase{"EndForGood", Kind::kEnd, true}),
    [](const auto& fault) { return fault.param.name; });

TEST_F(ReadFaults, ByChanceChangeNothingOrEndTheRunWhateverBecomesOfBadSamples) {
  write_shards({13, 16});
  Watchdog watchdog;
  int as_without = 0, told = 0;
  for (const BadSlotPolicy policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip, BadSlotPolicy::kFail}) {
    for (const CacheKind cache : {CacheKind::kNone, CacheKind::kRam}) {
      LoaderOptions wanted = options(3);
      wanted.order = OrderKind::kNone;
      wanted.epochs_end = 4;
      wanted.bad_sample = policy;
      wanted.cache = cache;
      set_preadv_faults({});
      const auto data = open_shards(3);
      /// Its audit, or the error that ends it.
      const auto run = [&](const PreadvFaults& faults) -> std::pair<Lines, std::optional<Error>> {
        set_preadv_faults({});
        Loader loader(data, small_recipe(), wanted);
        try {
          set_preadv_faults(faults);
          return {audit_of(loader, 4), std::nullopt};
        } catch (const Error& error) {
          return {Lines(), error};
        }
      };
      const auto [want, why] = run({});
      for (std::uint64_t seed = 0; seed < rounds<std::uint64_t>(60); ++seed) {
        watchdog.begin(fmt::format("seed {}", seed));
        const auto [lines, error] = run({.error_probability = 0.1, .short_probability = 0.1, .seed = seed});
        const bool as_well = error && error->kind() != ErrorKind::kIo;
        if (!error || as_well) {
          ++as_without;
          EXPECT_EQ(lines, want) << "seed " << seed;
          EXPECT_EQ(error ? error->message() : "", why ? why->message() : "") << "seed " << seed;
        } else {
          ++told;
          EXPECT_THAT(error->what(), AllOf(HasSubstr(folder_.path("shard")), HasSubstr("sample 's")));
        }
      }
    }
  }
  EXPECT_GT(as_without, 0);
  EXPECT_GT(told, 0);
}

}  // namespace
}  // namespace stoker
