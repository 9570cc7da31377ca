// How many reads a loader has under way at once: as many as it may, and whatever their number the same batches.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/source.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using Lines = std::vector<std::string>;

/// Knows how many reads of another source are under way, and were at most.
class CountingSource final : public Source {
 public:
  explicit CountingSource(std::shared_ptr<Source> inner) : inner_(std::move(inner)) {}

  const std::string& name() const override { return inner_->name(); }
  std::uint64_t size(std::string_view part) const override { return inner_->size(part); }
  void start(ReadRequest& request) override {
    const int now = ++under_way_;
    for (int most = most_; most < now && !most_.compare_exchange_weak(most, now);) continue;
    // What is left of a request when it is done is its context and its owner's function.
    const auto link = std::make_shared<Link>(Link{this, request.context, request.done, nullptr});
    link->itself = link;
    request.context = link.get();
    request.done = [](ReadRequest& ended) noexcept {
      const std::shared_ptr<Link> kept = std::move(static_cast<Link*>(ended.context)->itself);
      ended.context = kept->context;
      ended.done = kept->done;
      --kept->source->under_way_;
      ended.done(ended);
    };
    inner_->start(request);
  }

  int most() const { return most_; }

 private:
  struct Link {
    CountingSource* source;
    void* context;
    void (*done)(ReadRequest&) noexcept;
    std::shared_ptr<Link> itself;
  };

  const std::shared_ptr<Source> inner_;
  std::atomic<int> under_way_ = 0, most_ = 0;
};

struct CountedDataset {
  std::shared_ptr<CountingSource> reads;
  std::shared_ptr<const Dataset> dataset;
};

CountedDataset counted(const MemoryDataset& data) {
  SampleTable table;
  for (std::int64_t i = 0; i < data.dataset->size(); ++i) {
    const SampleRow row = data.dataset->row(i);
    table.add_sample(row.key, row.label);
    table.add_field(row.fields[0].name, "", row.fields[0].offset, row.fields[0].length);
  }
  CountedDataset result;
  result.reads = std::make_shared<CountingSource>(data.source);
  result.dataset = std::make_shared<ShardedDataset>(result.reads, std::move(table), std::vector<std::string>{});
  return result;
}

TEST(LoaderIoDepth, IsWhatWasAskedForOrTheMost) {
  const MemoryDataset data = memory_dataset({.tiny = true});
  EXPECT_EQ(Loader(data.dataset, small_recipe(), {.batch = 5}).io_depth(), kIoDepthMax);
  Loader loader(data.dataset, small_recipe(), {.batch = 5, .io_depth = 3});
  EXPECT_EQ(loader.io_depth(), 3);
  loader.set({.io_depth = kIoDepthMax});
  EXPECT_EQ(loader.io_depth(), kIoDepthMax);
  for (const int wrong : {0, -1, kIoDepthMax + 1}) {
    const Error error = error_of([&] { loader.set({.io_depth = wrong}); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.message(), HasSubstr(fmt::format("the I/O depth cannot be {}", wrong)));
    EXPECT_EQ(error_of([&] { Loader(data.dataset, small_recipe(), {.batch = 5, .io_depth = wrong}); }).message(),
              error.message());
  }
  EXPECT_EQ(loader.io_depth(), kIoDepthMax);
}

TEST(LoaderIoDepth, IsReachedAndNeverExceeded) {
  constexpr std::size_t kBatch = 6;
  const MemoryDataset plain = memory_dataset();
  Loader reference(plain.dataset, small_recipe(), {.batch = kBatch, .threads = 1});
  const Lines want = audit_of(reference, 1);
  Watchdog watchdog;
  for (const std::size_t depth : {1u, 2u, 5u, 18u}) {
    watchdog.begin(fmt::format("depth {}", depth));
    const MemoryDataset held = memory_dataset({.faults = {.hold = true}});
    const CountedDataset data = counted(held);
    Loader loader(data.dataset, small_recipe(),
                  {.batch = kBatch, .threads = 2, .io_depth = static_cast<int>(depth), .epochs_end = 1});
    std::jthread storage(
        [&] {  // ends the reads of each batch from the last to the first, once all that may be are held
          for (int batch = 0; batch < 8; ++batch) {
            for (std::size_t left = kBatch; left > 0; --left) {
              held.source->wait_until_held(std::min(depth, left));
              held.source->release(std::min(depth, left) - 1);
            }
          }
        });
    EXPECT_EQ(audit_of(loader, 1), want) << depth;
    EXPECT_LE(data.reads->most(), static_cast<int>(depth));
  }
}

TEST(LoaderIoDepth, GivesTheSameBatchesWhileItChanges) {
  const MemoryDataset plain = memory_dataset({.samples = 60});
  Loader reference(plain.dataset, small_recipe(), {.batch = 4, .threads = 1});
  const Lines want = audit_of(reference, 4);
  for (const std::size_t gap : {std::size_t{20'000}, std::size_t{100}}) {
    const CountedDataset data = counted(memory_dataset({.samples = 60, .gap = gap}));
    Loader loader(data.dataset, small_recipe(), {.batch = 4, .threads = 2, .io_depth = 1});
    Lines got;
    for (int epoch = 0, turn = 0; epoch < 4; ++epoch) {
      for (const BatchPtr& batch : loader.epoch(epoch)) {
        for (std::string& line : audit_of(*batch)) got.push_back(std::move(line));
        ++turn;
        loader.set({.threads = 1 + turn % 3, .prefetch = 1 + turn * 2 % 4, .io_depth = 1 + turn * 5 % 7});
      }
    }
    EXPECT_EQ(got, want) << gap;
    EXPECT_LE(data.reads->most(), 7);
  }
}

TEST(LoaderIoDepth, GoesUpAtOnceWhileReadsAreUnderWay) {
  Watchdog watchdog;
  const MemoryDataset held = memory_dataset({.faults = {.hold = true}});
  Loader loader(held.dataset, small_recipe(), {.batch = 10, .io_depth = 2, .epochs_end = 1});
  loader.start_epoch(0);
  held.source->wait_until_held(2);
  loader.set({.io_depth = 9});
  held.source->wait_until_held(9);  // none of the two has ended
  loader.set({.io_depth = 1});
  EXPECT_EQ(held.source->started(), 9);
  for (int read = 0; read < 8; ++read) held.source->release(0);
  EXPECT_EQ(held.source->started(), 9) << "more are under way than now may be, until that one ends";
  held.source->release(0);
  held.source->wait_until_held(1);
  EXPECT_EQ(held.source->started(), 10);
  held.source->release_all();
  EXPECT_EQ(audit_of(loader, 1).size(), 50u);
}

// Runs one after another of which one in ten reads fails, with one or two reads at a time.
void expect_the_same_through_faults(const LoaderOptions& options, std::size_t gap, Watchdog& watchdog) {
  const std::vector<int> bad = {3, 17, 18, 40};
  const MemoryDataset plain = memory_dataset({.bad = bad, .gap = gap});
  Loader reference(plain.dataset, small_recipe(), options);
  const Lines want = audit_of(reference, 2);
  int whole = 0;
  for (std::uint64_t seed = 0; seed < rounds<std::uint64_t>(10); ++seed) {
    watchdog.begin(fmt::format("{}, gap {}, seed {}", to_string(options.order), gap, seed));
    const MemoryDataset data =
        memory_dataset({.bad = bad, .faults = {.fail_probability = 0.1, .seed = seed}, .gap = gap});
    LoaderOptions limited = options;
    limited.io_depth = 1 + static_cast<int>(seed % 2);
    Loader loader(data.dataset, small_recipe(), limited);
    try {
      EXPECT_EQ(audit_of(loader, 2), want);
      ++whole;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
    }
  }
  EXPECT_GT(whole, 0);
}

TEST(LoaderIoDepth, OfOneIsEnoughThroughFaultsBadSamplesAndMergedReads) {
  Watchdog watchdog;
  for (const std::size_t gap : {std::size_t{20'000}, std::size_t{100}}) {
    for (const OrderKind order : {OrderKind::kGlobal, OrderKind::kNone, OrderKind::kWindowed}) {
      LoaderOptions options{.batch = 5, .seed = 9, .threads = 2, .prefetch = 1, .order = order, .epochs_end = 2};
      if (order == OrderKind::kWindowed) options.window = 20, options.lanes = 1;
      expect_the_same_through_faults(options, gap, watchdog);
    }
  }
}

TEST(LoaderIoDepth, WhatNobodyWantsAnyMoreIsNotRead) {
  Watchdog watchdog;
  const MemoryDataset held = memory_dataset({.samples = 60, .faults = {.hold = true}});
  Loader loader(held.dataset, small_recipe(), {.batch = 10, .prefetch = 3, .io_depth = 1});
  loader.start_epoch(0);
  held.source->wait_until_held(1);
  loader.start_epoch(5);
  held.source->release(0);
  held.source->wait_until_held(1);
  // One read was under way when the epoch was left; the next one is of a sample that the new one wants first.
  EXPECT_EQ(held.source->started(), 2);
  held.source->release_all();
  EXPECT_EQ(loader.next()->epoch, 5);
}

TEST(LoaderIoDepth, EndsWithReadsThatWereNeverStarted) {
  Watchdog watchdog;
  for (int round = 0; round < rounds(20); ++round) {
    const MemoryDataset held = memory_dataset({.faults = {.hold = true}, .tiny = true});
    Loader loader(held.dataset, small_recipe(), {.batch = 10, .io_depth = 1 + round % 3});
    loader.start_epoch(0);
    held.source->wait_until_held(1);
    std::jthread storage([&] { held.source->release_all(); });
    loader.close();
  }
}

TEST(LoaderIoDepth, OfTwoLoadersOnOneDataSet) {
  const TempFolder folder;
  for (int i = 0; i < 90; ++i) {
    folder.write(fmt::format("{:03}.jpg", i), noisy_jpeg(20 + i % 5, 20, static_cast<std::uint64_t>(i)));
  }
  const LoaderOptions options{.batch = 9, .threads = 2, .epochs_end = 2};
  Loader reference(open(folder.path()), small_recipe(), options);
  const Lines want = audit_of(reference, 2);
  const auto shared = open(folder.path());
  Watchdog watchdog;
  for (const int depth : {1, 2, 40, kIoDepthMax}) {
    LoaderOptions limited = options;
    limited.io_depth = depth;
    watchdog.begin(fmt::format("depth {}", depth));
    // Two loaders on the threads of one data set.
    Loader a(shared, small_recipe(), limited), b(shared, small_recipe(), limited);
    Lines of_b;
    std::jthread other([&] { of_b = audit_of(b, 2); });
    EXPECT_EQ(audit_of(a, 2), want) << depth;
    other.join();
    EXPECT_EQ(of_b, want) << depth;
  }
}

}  // namespace
}  // namespace stoker
