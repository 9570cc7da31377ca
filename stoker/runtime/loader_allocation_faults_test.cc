// A loader for which operator new finds no memory, at each of the calls that a small run makes, once or from there on:
// the run is as without, or its consumer is told.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/allocations_testing.h"
#include "stoker/base/error.h"
#include "stoker/base/executor.h"
#include "stoker/base/hash.h"
#include "stoker/base/log.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/source.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

constexpr int kSamples = 12, kBatch = 4, kBatches = kSamples / kBatch;

/// What a consumer saw of one epoch, gathered without allocating.
struct Seen {
  std::uint64_t digests[kBatches] = {};
  int batches = 0;

  void add(const Batch& batch) {
    std::uint64_t& digest = digests[batch.index];
    for (int slot = 0; slot < batch.size(); ++slot) {
      const auto at = static_cast<std::size_t>(slot);
      for (std::size_t output = 0; output < batch.outputs().size(); ++output) {
        digest = 31 * digest + hash64(batch.slot_bytes(output, slot));
      }
      digest = 31 * digest + static_cast<std::uint64_t>(batch.sample[at]);
      digest = 31 * digest + static_cast<std::uint64_t>(batch.substituted_for[at]);
      digest = 31 * digest + hash64(batch.key[at]) + hash64(batch.substituted_key[at]);
    }
    ++batches;
  }

  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen epoch_of(Loader& loader) {
  Seen seen;
  loader.start_epoch(0);
  while (const BatchPtr batch = loader.next()) seen.add(*batch);
  return seen;
}

/// What a run came to.
struct Outcome {
  std::optional<Seen> seen;        // unless there was no memory
  std::optional<Seen> seen_then;   // by the same loader, when there was memory again
  std::exception_ptr other_error;  // anything but that there is no memory
};

bool says_no_memory(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::kMemory;
  } catch (...) {
    return false;
  }
}

using OpenData = std::function<std::shared_ptr<const Dataset>()>;

/// Opens the data, makes a loader, takes its epoch and its state, and takes the epoch again where that failed.
Outcome run(const OpenData& open_data, Recipe recipe, LoaderOptions options) {
  Outcome outcome;
  std::optional<Loader> loader;
  try {
    loader.emplace(open_data(), std::move(recipe), std::move(options));
    const Seen seen = epoch_of(*loader);
    if (loader->state().empty()) return outcome;
    outcome.seen = seen;
  } catch (...) {
    if (!says_no_memory(std::current_exception())) outcome.other_error = std::current_exception();
  }
  if (outcome.seen || !loader) return outcome;
  try {
    outcome.seen_then = epoch_of(*loader);
  } catch (...) {
    if (!says_no_memory(std::current_exception())) outcome.other_error = std::current_exception();
  }
  return outcome;
}

struct Sweep {
  OpenData open_data;
  std::function<void()> prepare = [] {};  // before each run
  Recipe recipe = small_recipe();
  LoaderOptions options{};
  bool for_good = false;
};

/// Fails each allocation of a run in turn, or each `stride`-th.
void fail_each(const Sweep& sweep, int stride) {
  Watchdog watchdog;
  const auto reference = [&] {
    sweep.prepare();
    return run(sweep.open_data, sweep.recipe, sweep.options);
  };
  reference();  // what is made once and kept is made here
  const Outcome undisturbed = reference();
  if (undisturbed.other_error) std::rethrow_exception(undisturbed.other_error);
  const std::optional<Seen>& want = undisturbed.seen;
  ASSERT_TRUE(want.has_value());
  int told = 0, went_on = 0;
  bool happened = true;
  for (std::int64_t number = 0; happened; number += stride) {
    const std::string round = fmt::format("allocation {} failing{}", number, sweep.for_good ? " for good" : "");
    watchdog.begin(round);
    sweep.prepare();
    Recipe recipe = sweep.recipe;
    LoaderOptions options = sweep.options;
    const std::int64_t alive = allocations_alive();
    Outcome outcome;
    {
      const AllocationFault fault(number, sweep.for_good);
      outcome = run(sweep.open_data, std::move(recipe), std::move(options));
      happened = fault.happened();
    }
    if (outcome.other_error) std::rethrow_exception(outcome.other_error);
    ASSERT_LE(allocations_alive(), alive) << "leaked: " << round;
    ASSERT_EQ(outcome.seen.value_or(*want), *want) << round;
    ASSERT_EQ(outcome.seen_then.value_or(*want), *want) << "after " << round;
    told += !outcome.seen;
    went_on += outcome.seen_then.has_value();
  }
  EXPECT_GT(told, 0);
  EXPECT_EQ(went_on > 0, !sweep.for_good);
}

class AllocationFaults : public ::testing::TestWithParam<bool> {
 protected:
  static void sweep_with_threads(Sweep sweep) {
    sweep.options.batch = kBatch;
    sweep.options.epochs_end = 1;
    sweep.for_good = GetParam();
    for (const int threads : {1, 2}) {
      sweep.options.threads = threads;
      // What several threads allocate comes in another order each time, anyway.
      const bool each = rounds(1) > 1 || (threads == 1 && !sweep.for_good && !kSanitized);
      const int stride = each ? 1 : 4;
      for (int repeat = 0; repeat < rounds(1); ++repeat) fail_each(sweep, stride);
    }
  }

  static void sweep_in_memory(const MemoryDatasetOptions& options, const LoaderOptions& loader_options) {
    const MemoryDataset data = memory_dataset(options);
    sweep_with_threads({.open_data = [&] { return data.dataset; },
                        .prepare = [&] { data.source->begin_again(options.faults); },
                        .options = loader_options});
  }
};

TEST_P(AllocationFaults, AreToldOrChangeNothing) { sweep_in_memory({.samples = kSamples}, {}); }

TEST_P(AllocationFaults, AreToldOrChangeNothingWhereSamplesAreReplaced) {
  sweep_in_memory({.samples = kSamples, .bad = {0, 5, 7}}, {});
}

TEST_P(AllocationFaults, AreToldOrChangeNothingWhereSamplesAreSkipped) {
  sweep_in_memory({.samples = kSamples, .bad = {5}}, {.bad_sample = BadSlotPolicy::kSkip});
}

TEST_P(AllocationFaults, AreToldOrChangeNothingWhereReadsAreMadeAgain) {
  sweep_in_memory({.samples = kSamples, .bad = {5}, .faults = {.fail_reads = {1, 2, 12}}}, {});
}

TEST_P(AllocationFaults, AreToldOrChangeNothingWithACache) {
  sweep_in_memory({.samples = kSamples, .bad = {5}}, {.cache = CacheKind::kRam});
}

TEST_P(AllocationFaults, AreToldOrChangeNothingWhereAllIsWrittenDown) {
  const TempFolder folder;
  set_log_sink([](LogLevel, std::string_view) {}, LogLevel::kDebug);
  sweep_in_memory({.samples = kSamples, .bad = {5}}, {.audit = folder.path("audit.jsonl")});
  set_log_sink(nullptr);
}

TEST_P(AllocationFaults, AreToldOrChangeNothingWhereSamplesAreKnownToBeBad) {
  const TempFolder folder;
  sweep_in_memory({.samples = kSamples, .bad = {5, 7}}, {.quarantine = folder.path("bad.jsonl")});
}

TEST_P(AllocationFaults, AreToldOrChangeNothingWhereShardsAreOpened) {
  const TempFolder folder;
  const std::string shard = folder.path("shard.tar");
  {
    TarWriter writer(shard);
    for (int i = 0; i < kSamples; ++i) {
      writer.add(fmt::format("{:02}.jpg", i), noisy_jpeg(40 + i % 5, 30, static_cast<std::uint64_t>(i)));
      writer.add(fmt::format("{:02}.json", i), as_bytes(fmt::format(R"({{"boxes": [[1, {}]]}})", i)));
    }
    writer.finish();
  }
  const std::vector<std::string> data = {shard};
  Recipe recipe = small_recipe();
  recipe.view("number", "json").json_number("/boxes/0/1");
  for (const std::string& kept : {std::string(), folder.path("cache")}) {  // scanned; or by an index of an earlier scan
    sweep_with_threads(
        {.open_data = [&] { return open_dataset(data, std::make_shared<InlineExecutor>(), {.cache_folder = kept}); },
         .recipe = recipe});
  }
}

INSTANTIATE_TEST_SUITE_P(Once, AllocationFaults, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(ForGood, AllocationFaults, testing::Values(true));

}  // namespace
}  // namespace stoker
