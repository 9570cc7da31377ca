#include "stoker/runtime/loader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <set>
#include <stop_token>
#include <thread>

#include "stoker/base/child_testing.h"
#include "stoker/base/error.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::kClosed, "");
}

std::size_t threads_of_this_process() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

TEST(Loader, GivesTheSameBatchesForAnyThreadsAndPrefetch) {
  const MemoryDataset data = memory_dataset();
  Loader alone(data.dataset, small_recipe(), {.batch = 8, .seed = 5, .threads = 1, .prefetch = 1});
  const auto want = audit_of(alone, 3);
  EXPECT_EQ(want.size(), 3u * 48);
  EXPECT_EQ(std::set<std::string>(want.begin(), want.end()).size(), want.size());
  for (const int threads : {1, 2, 3, 8}) {
    for (const int prefetch : {1, 2, 7}) {
      Loader loader(data.dataset, small_recipe(), {.batch = 8, .seed = 5, .threads = threads, .prefetch = prefetch});
      EXPECT_EQ(audit_of(loader, 3), want) << threads << " threads, prefetch " << prefetch;
    }
  }
}

TEST(Loader, GivesTheSameBatchesWhileKnobsChange) {
  const MemoryDataset data = memory_dataset();
  Loader alone(data.dataset, small_recipe(), {.batch = 4, .threads = 1});
  const auto want = audit_of(alone, 4);
  Loader turned(data.dataset, small_recipe(), {.batch = 4, .threads = 2});
  std::vector<std::string> got;
  int turn = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (const BatchPtr& batch : turned.epoch(epoch)) {
      for (std::string& line : audit_of(*batch)) got.push_back(std::move(line));
      ++turn;
      turned.set({.threads = 1 + turn * 3 % 5, .prefetch = 1 + turn * 2 % 4});
      EXPECT_EQ(turned.threads(), 1 + turn * 3 % 5);
      EXPECT_EQ(turned.prefetch(), 1 + turn * 2 % 4);
    }
  }
  EXPECT_EQ(got, want);
}

TEST(Loader, GivesTheSameBatchesWhateverTheOrderOfReads) {
  const MemoryDataset plain = memory_dataset();
  Loader reference(plain.dataset, small_recipe(), {.batch = 6, .threads = 1});
  const auto want = audit_of(reference, 2);

  const MemoryDataset held = memory_dataset({.faults = {.hold = true}});
  Loader loader(held.dataset, small_recipe(), {.batch = 6, .threads = 2, .epochs_end = 2});
  std::jthread storage([&] {  // completes the reads of each batch from the last to the first
    for (int batch = 0; batch < 2 * 8; ++batch) {
      held.source->wait_until_held(6);
      for (std::size_t read = 6; read-- > 0;) held.source->release(read);
    }
  });
  EXPECT_EQ(audit_of(loader, 2), want);
}

TEST(Loader, RanksShareTheGlobalBatches) {
  const MemoryDataset data = memory_dataset();
  Loader alone(data.dataset, small_recipe(), {.global_batch = 12, .tail = Tail::kPad});
  auto want = audit_of(alone, 2);
  for (const int world : {2, 3, 6}) {
    std::vector<std::string> got;
    for (int rank = 0; rank < world; ++rank) {
      Loader loader(data.dataset, small_recipe(),
                    {.global_batch = 12, .rank = rank, .world = world, .tail = Tail::kPad});
      EXPECT_EQ(loader.batch_size(), 12 / world);
      for (std::string& line : audit_of(loader, 2)) got.push_back(std::move(line));
    }
    std::sort(got.begin(), got.end());
    std::sort(want.begin(), want.end());
    EXPECT_EQ(got, want) << world;
  }
}

TEST(Loader, TailsDropWrapAndPad) {
  const MemoryDataset data = memory_dataset({.samples = 10});
  const auto count = [&](Tail tail) {
    Loader loader(data.dataset, small_recipe(), {.batch = 4, .tail = tail});
    std::pair<int, int> batches_and_valid{0, 0};
    for (const BatchPtr& batch : loader.epoch(0)) {
      ++batches_and_valid.first;
      batches_and_valid.second += batch->valid_count();
      for (int slot = 0; slot < batch->size(); ++slot) {
        if (batch->valid(slot)) continue;
        for (const std::uint8_t byte : batch->slot_bytes(0, slot)) EXPECT_EQ(byte, 0);
        EXPECT_TRUE(batch->key[static_cast<std::size_t>(slot)].empty());
      }
    }
    EXPECT_EQ(loader.batches_per_epoch(), batches_and_valid.first);
    return batches_and_valid;
  };
  EXPECT_EQ(count(Tail::kDrop), std::pair(2, 8));
  EXPECT_EQ(count(Tail::kWrap), std::pair(3, 12));
  EXPECT_EQ(count(Tail::kPad), std::pair(3, 10));
}

TEST(Loader, WrapsAndPadsADataSetSmallerThanABatch) {
  const MemoryDataset data = memory_dataset({.samples = 3});
  for (const auto& [tail, valid] : {std::pair{Tail::kWrap, 8}, std::pair{Tail::kPad, 3}}) {
    Loader loader(data.dataset, small_recipe(), {.batch = 8, .tail = tail});
    EXPECT_EQ(loader.batches_per_epoch(), 1);
    EXPECT_EQ(loader.next()->valid_count(), valid);
  }
}

TEST(Loader, DeliversLabelsKeysAndPositions) {
  const MemoryDataset data = memory_dataset({.samples = 20});
  Loader loader(data.dataset, small_recipe(), {.batch = 5, .order = OrderKind::kNone});
  std::int64_t expected = 0;
  for (const BatchPtr& batch : loader.epoch(0)) {
    const TensorView label = batch->output("label");
    for (int slot = 0; slot < 5; ++slot, ++expected) {
      const auto at = static_cast<std::size_t>(slot);
      EXPECT_EQ(reinterpret_cast<const std::int64_t*>(label.data)[slot], expected % 7);
      EXPECT_EQ(batch->key[at], fmt::format("sample{}", expected));
      EXPECT_EQ(batch->position[at], expected);
    }
  }
  EXPECT_EQ(expected, 20);
}

TEST(Loader, NamesTheFirstBadSampleAfterTheBatchesBeforeIt) {
  const MemoryDataset data = memory_dataset({.bad = {17, 19, 30}});
  for (const int threads : {1, 2, 8}) {
    Loader loader(data.dataset, small_recipe(), {.batch = 4, .threads = threads, .order = OrderKind::kNone});
    loader.start_epoch(0);
    for (int batch = 0; batch < 4; ++batch) EXPECT_NE(loader.next(), nullptr);
    const Error error = error_of([&] { loader.next(); });
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    EXPECT_THAT(error.what(), HasSubstr("sample17"));
    EXPECT_THAT(error.what(), HasSubstr("memory.tar"));
    EXPECT_THAT(error_of([&] { loader.next(); }).what(), HasSubstr("sample17"));  // it stays failed
    EXPECT_EQ(loader.metrics()[Metric::kBadSamples], 1);
    loader.start_epoch(0);
    EXPECT_NE(loader.next(), nullptr);
  }
}

TEST(Loader, ReportsEveryReadThatFailsForGood) {
  for (int failing = 0; failing < 12; ++failing) {
    const MemoryDataset data = memory_dataset({.samples = 12, .faults = {.fail_read = failing, .for_good = true}});
    Loader loader(data.dataset, small_recipe(), {.batch = 4, .threads = 2, .order = OrderKind::kNone});
    loader.start_epoch(0);
    const Error error = error_of([&] {
      while (loader.next()) continue;
    });
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_THAT(error.what(), HasSubstr(fmt::format("sample{}", failing)));
  }
}

TEST(Loader, ReadsAgainWhatFailedOnce) {
  const MemoryDataset plain = memory_dataset({.samples = 12});
  Loader reference(plain.dataset, small_recipe(), {.batch = 4});
  const auto want = audit_of(reference, 2);
  for (int failing = 0; failing < 12; ++failing) {
    const MemoryDataset data = memory_dataset({.samples = 12, .faults = {.fail_read = failing}});
    Loader loader(data.dataset, small_recipe(), {.batch = 4, .threads = 2});
    EXPECT_EQ(audit_of(loader, 2), want) << failing;
  }
}

TEST(Loader, SurvivesRandomReadFaultsWithoutHanging) {
  const MemoryDataset plain = memory_dataset({.samples = 30});
  Loader reference(plain.dataset, small_recipe(), {.batch = 3});
  const auto want = audit_of(reference, 1);
  int whole = 0, failed = 0;
  for (int seed = 0; seed < rounds(20); ++seed) {
    const MemoryDataset data =
        memory_dataset({.samples = 30, .faults = {.fail_probability = 0.3, .seed = static_cast<std::uint64_t>(seed)}});
    Loader loader(data.dataset, small_recipe(), {.batch = 3, .threads = 3, .epochs_end = 1});
    try {
      EXPECT_EQ(audit_of(loader, 1), want);
      ++whole;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      ++failed;
    }
  }
  EXPECT_GT(whole, 0);
  EXPECT_GT(failed, 0);
}

TEST(Loader, GivesAKeepingConsumerItsBudgetAndThenAnError) {
  const MemoryDataset data = memory_dataset({.samples = 400, .tiny = true});
  const Recipe recipe = Recipe().decode().resize(64, 64).cast("f32");
  const LoaderOptions options{.batch = 10, .memory = 6 << 20};
  Loader loader(data.dataset, recipe, options);
  std::vector<BatchPtr> kept;
  loader.start_epoch(0);
  const Error error = error_of([&] {
    for (;;) kept.push_back(loader.next());
  });
  EXPECT_EQ(error.kind(), ErrorKind::kMemory);
  EXPECT_THAT(error.what(), HasSubstr(fmt::format("holds {} batches", kept.size())));
  EXPECT_GE(kept.size(), 3u);
  EXPECT_LE(kept.size() * kept[0]->bytes(), options.memory);
  // Letting go of one is enough to go on.
  const auto first_kept = audit_of(*kept.front());
  const std::int64_t reached = kept.back()->index;
  kept.pop_back();
  const BatchPtr next = loader.next();
  EXPECT_EQ(next->index, reached + 1);
  EXPECT_EQ(audit_of(*kept.front()), first_kept);
}

TEST(Loader, SaysTheLeastMemoryThatWorks) {
  const MemoryDataset data = memory_dataset();
  LoaderOptions options{.batch = 8, .prefetch = 1, .memory = 1000};
  EXPECT_THAT(error_of([&] { Loader(data.dataset, small_recipe(), options); }).what(),
              HasSubstr("the least for this batch and prefetch is"));
  options.memory = memory_bytes_min(small_recipe(), options);
  Loader loader(data.dataset, small_recipe(), options);
  const BatchPtr kept = loader.next();
  EXPECT_NE(loader.next(), nullptr) << "one batch may be kept until the next is there";
  EXPECT_EQ(audit_of(loader, 1).size(), 48u);
  options.memory = *options.memory - 1;
  EXPECT_EQ(error_of([&] { Loader(data.dataset, small_recipe(), options); }).kind(), ErrorKind::kMemory);
}

TEST(Loader, RefusesOptionsThatMakeNoSense) {
  const MemoryDataset data = memory_dataset();
  const auto refusal = [&](LoaderOptions options) {
    return std::string(error_of([&] { Loader(data.dataset, small_recipe(), options); }).what());
  };
  EXPECT_THAT(refusal({}), HasSubstr("give either batch"));
  EXPECT_THAT(refusal({.batch = 4, .global_batch = 4}), HasSubstr("give either batch"));
  EXPECT_THAT(refusal({.global_batch = 5, .world = 2}), HasSubstr("cannot be divided"));
  EXPECT_THAT(refusal({.global_batch = std::int64_t{1} << 32}), HasSubstr("more than the"));
  EXPECT_THAT(refusal({.global_batch = 4, .world = 0}), HasSubstr("does not exist"));
  EXPECT_THAT(refusal({.batch = 4, .threads = 5000}), HasSubstr("at most 4096"));
  EXPECT_THAT(refusal({.batch = 4, .memory = 0}), HasSubstr("budget of 0 B cannot work"));
  EXPECT_THAT(refusal({.batch = INT_MAX, .memory = 1 << 30, .tail = Tail::kPad}), HasSubstr("cannot work"));
  EXPECT_THAT(refusal({.batch = 4, .rank = 2, .world = 2}), HasSubstr("does not exist"));
  EXPECT_THAT(refusal({.batch = 51}), HasSubstr("fewer than one global batch"));
  EXPECT_THAT(refusal({.batch = 4, .threads = -1}), HasSubstr("threads must be"));
  EXPECT_THAT(refusal({.batch = 4, .prefetch = 0}), HasSubstr("prefetch must be"));
  EXPECT_EQ(error_of([&] { Loader(memory_dataset({.samples = 0}).dataset, small_recipe(), {.batch = 1}); }).kind(),
            ErrorKind::kData);
}

TEST(Loader, RefusesASampleThatItsMemoryHasNoRoomFor) {
  const MemoryDataset data = memory_dataset({.samples = 4, .width = 1500, .height = 1200});
  LoaderOptions options{.batch = 2, .prefetch = 1};
  options.memory = memory_bytes_min(small_recipe(), options);  // the arena's megabyte, and the batches
  ASSERT_GT(data.dataset->image_field(0)->length, std::uint64_t{1} << 20);
  Loader loader(data.dataset, small_recipe(), options);
  const Error error = error_of([&] { loader.next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kLimit);
  EXPECT_THAT(error.what(), HasSubstr("give the loader more memory"));
}

// Memory that ends after some allocations, as a machine's does.
class ShortAllocator final : public Allocator {
 public:
  explicit ShortAllocator(int allocations) : left_(allocations) {}
  std::uint8_t* allocate(std::size_t bytes) override {
    if (left_-- <= 0) fail(ErrorKind::kMemory, "no memory left");
    return host_allocator().allocate(bytes);
  }
  void deallocate(std::uint8_t* memory, std::size_t bytes) noexcept override {
    host_allocator().deallocate(memory, bytes);
  }

 private:
  std::atomic<int> left_;
};

TEST(Loader, SaysWhenTheMachineHasNoMemoryForABatch) {
  const MemoryDataset data = memory_dataset();
  for (int repeat = 0; repeat < 50; ++repeat) {  // the consumer waits already, or not yet
    ShortAllocator arena_only(1);
    Loader loader(data.dataset, small_recipe(), {.batch = 8, .threads = 1, .allocator = &arena_only});
    loader.start_epoch(0);
    EXPECT_THAT(error_of([&] { loader.next(); }).what(), HasSubstr("no memory left"));
  }
}

TEST(Loader, GoesOnWithTheBatchesThatTheMachineHasMemoryFor) {
  const MemoryDataset data = memory_dataset();
  Loader reference(data.dataset, small_recipe(), {.batch = 8});
  ShortAllocator two_batches(3);
  Loader loader(data.dataset, small_recipe(), {.batch = 8, .prefetch = 4, .allocator = &two_batches});
  EXPECT_EQ(audit_of(loader, 2), audit_of(reference, 2));
}

TEST(Loader, EndsWhereItWasToldTo) {
  const MemoryDataset data = memory_dataset({.samples = 8});
  Loader loader(data.dataset, small_recipe(), {.batch = 8, .epochs_end = 2});
  EXPECT_EQ(error_of([&] { loader.start_epoch(2); }).kind(), ErrorKind::kUsage);
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_NE(loader.next(), nullptr);
    EXPECT_EQ(loader.next(), nullptr);
  }
  EXPECT_EQ(loader.next(), nullptr) << "no epoch 2, and no waiting for one";
}

TEST(Loader, FailsTheEpochWhoseAuditCannotBeWritten) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), {.batch = 8, .audit = "/dev/full"});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(error_of([&] { loader.next(); }).kind(), ErrorKind::kIo);
  EXPECT_EQ(loader.metrics()[Metric::kBatches], 0);
  EXPECT_EQ(loader.metrics()[Metric::kSamples], 0);
}

TEST(Loader, TellsHowFarItHasCome) {
  const MemoryDataset data = memory_dataset({.samples = 20});
  std::vector<std::string> told;
  Loader loader(data.dataset, small_recipe(),
                {.batch = 8, .progress = [&](const LoaderProgress& progress) {
                   told.push_back(fmt::format("{}: {}/{}, {}", progress.epoch, progress.batches,
                                              progress.batches_per_epoch, progress.samples));
                 }});
  audit_of(loader, 2);
  EXPECT_THAT(told, testing::ElementsAre("0: 1/2, 8", "0: 2/2, 16", "1: 1/2, 24", "1: 2/2, 32"));
}

TEST(Loader, IsInertInAForkedChild) {
  const MemoryDataset data = memory_dataset({.faults = {.hold = true}});  // its threads are in the middle of something
  auto loader = std::make_unique<Loader>(data.dataset, small_recipe(), LoaderOptions{.batch = 8, .threads = 3});
  loader->start_epoch(0);
  data.source->wait_until_held(8);
  EXPECT_EQ(status_in_child([&] {
              const auto kind_of = [](const std::function<void()>& call) { return error_of(call).kind(); };
              if (kind_of([&] { loader->next(); }) != ErrorKind::kClosed) return 1;
              if (kind_of([&] { loader->start_epoch(1); }) != ErrorKind::kClosed) return 2;
              if (kind_of([&] { loader->metrics(); }) != ErrorKind::kClosed) return 3;
              loader->close();
              loader.reset();
              return 0;
            }),
            0);
  data.source->release_all();
  EXPECT_EQ(loader->next()->valid_count(), 8) << "the parent goes on";
}

TEST(Loader, KeepsBatchesReadableInAForkedChild) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), {.batch = 8});
  BatchPtr batch = loader.next();
  const auto want = audit_of(*batch);
  EXPECT_EQ(status_in_child([&] {
              const bool same = audit_of(*batch) == want;
              batch.reset();
              return same ? 0 : 1;
            }),
            0);
}

TEST(Open, ADatasetReadsInAForkedChildToo) {
  const TempFolder folder;
  folder.write("a.jpg", noisy_jpeg(30, 20, 1));
  auto dataset = open(folder.path());
  EXPECT_EQ(status_in_child([&] {
              Loader loader(dataset, small_recipe(), {.batch = 1, .epochs_end = 1});
              const bool delivered = loader.next()->valid_count() == 1;
              dataset.reset();
              return delivered ? 0 : 1;
            }),
            0);
}

TEST(Open, StopsWhenAsked) {
  const TempFolder folder;
  folder.write("a.jpg", noisy_jpeg(30, 20, 1));
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(error_of([&] { open(folder.path(), stopped.get_token()); }).kind(), ErrorKind::kClosed);
}

TEST(Loader, StartsAnyEpochAtAnyTime) {
  const MemoryDataset data = memory_dataset();
  Loader reference(data.dataset, small_recipe(), {.batch = 8});
  std::vector<std::vector<std::string>> epochs(6);
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (const BatchPtr& batch : reference.epoch(epoch)) {
      for (std::string& line : audit_of(*batch)) epochs[static_cast<std::size_t>(epoch)].push_back(std::move(line));
    }
  }
  Loader loader(data.dataset, small_recipe(), {.batch = 8, .threads = 2});
  for (const int epoch : {4, 0, 0, 5, 1, 2, 2}) {
    int taken = 0;
    std::vector<std::string> got;
    for (const BatchPtr& batch : loader.epoch(epoch)) {
      for (std::string& line : audit_of(*batch)) got.push_back(std::move(line));
      if (++taken == 1 + epoch) break;  // leaves the epoch early
    }
    const auto& want = epochs[static_cast<std::size_t>(epoch)];
    EXPECT_EQ(got, std::vector<std::string>(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(got.size())))
        << epoch;
  }
}

TEST(Loader, PlainIterationCountsEpochsUp) {
  const MemoryDataset data = memory_dataset({.samples = 8});
  Loader loader(data.dataset, small_recipe(), {.batch = 4});
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    for (int batch = 0; batch < 2; ++batch) EXPECT_EQ(loader.next()->epoch, epoch);
    EXPECT_EQ(loader.next(), nullptr);
  }
  EXPECT_EQ(loader.metrics()[Metric::kEpochs], 3);
  EXPECT_EQ(loader.metrics()[Metric::kSamples], 24);
}

TEST(Loader, DrawsNothingBeyondTheLastEpoch) {
  const MemoryDataset data = memory_dataset({.samples = 8});
  Loader loader(data.dataset, small_recipe(), {.batch = 4, .prefetch = 4, .epochs_end = 1});
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < 8; ++i) bytes += static_cast<std::int64_t>(data.dataset->fields(i)[0].length);
  EXPECT_EQ(audit_of(loader, 1).size(), 8u);
  loader.close();
  EXPECT_EQ(loader.metrics()[Metric::kBytesRead], bytes);
}

TEST(Loader, EndsAtOnceWhenInterruptedOrClosed) {
  const MemoryDataset held = memory_dataset({.faults = {.hold = true}});
  Loader loader(held.dataset, small_recipe(), {.batch = 8});
  loader.start_epoch(0);
  EXPECT_EQ(loader.next_within(std::chrono::milliseconds(1)), std::nullopt);
  std::jthread other([&] {
    held.source->wait_until_held(8);
    loader.interrupt();
  });
  EXPECT_EQ(error_of([&] { loader.next(); }).kind(), ErrorKind::kClosed);
  other.join();
  held.source->release_all();
  loader.close();
  loader.close();
  EXPECT_EQ(error_of([&] { loader.next(); }).kind(), ErrorKind::kClosed);
  EXPECT_EQ(error_of([&] { loader.start_epoch(1); }).kind(), ErrorKind::kClosed);
}

TEST(Loader, ClosesOnlyWhenItsReadsHaveEnded) {
  const std::size_t before = threads_of_this_process();
  const MemoryDataset held = memory_dataset({.faults = {.hold = true}});
  Loader loader(held.dataset, small_recipe(), {.batch = 8, .threads = 2});
  loader.start_epoch(0);
  held.source->wait_until_held(8);
  const std::future<void> closing = std::async(std::launch::async, [&] { loader.close(); });
  while (threads_of_this_process() > before + 1) std::this_thread::yield();  // until close() has joined its threads
  EXPECT_EQ(closing.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout)
      << "reads still write into memory that may go away now";
  held.source->release_all();
}

TEST(Loader, LeavesNoThreadBehindOnAnyWayOut) {
  const std::size_t before = threads_of_this_process();
  const MemoryDataset data = memory_dataset();
  { const Loader never_used(data.dataset, small_recipe(), {.batch = 8, .threads = 4}); }
  {
    Loader left_early(data.dataset, small_recipe(), {.batch = 8, .threads = 4});
    left_early.start_epoch(0);
    left_early.next();
  }
  try {
    Loader thrown_out_of(data.dataset, small_recipe(), {.batch = 8, .threads = 4});
    for (const BatchPtr& batch : thrown_out_of.epoch(0)) throw std::runtime_error(std::to_string(batch->index));
  } catch (const std::runtime_error&) {
  }
  {
    Loader grown(data.dataset, small_recipe(), {.batch = 8, .threads = 1});
    grown.set({.threads = 6});
    EXPECT_GE(threads_of_this_process(), before + 7);
    grown.set({.threads = 1});
    EXPECT_EQ(threads_of_this_process(), before + 2);
  }
  EXPECT_EQ(threads_of_this_process(), before);
}

TEST(Loader, BatchesOutliveIt) {
  const MemoryDataset data = memory_dataset();
  BatchPtr kept;
  std::vector<std::string> lines;
  {
    Loader loader(data.dataset, small_recipe(), {.batch = 8});
    loader.start_epoch(0);
    kept = loader.next();
    lines = audit_of(*kept);
  }
  EXPECT_EQ(audit_of(*kept), lines);
}

TEST(Loader, ReadsSamplesLargerThanTheReadAhead) {
  const MemoryDataset data = memory_dataset({.samples = 6, .width = 1800, .height = 1500});
  LoaderOptions options{.batch = 2, .threads = 2};
  options.memory = memory_bytes_min(small_recipe(), options) + (1 << 20);
  EXPECT_GT(data.dataset->fields(0)[0].length, 1u << 20);
  Loader loader(data.dataset, small_recipe(), options);
  EXPECT_EQ(audit_of(loader, 2).size(), 12u);
}

TEST(Loader, SaysWhichFieldIsMissing) {
  SampleTable table;
  table.add_sample("lonely", 1);
  table.add_field("txt", 0, "", 0, 4);
  const MemoryDataset data = memory_dataset({.samples = 1});
  const auto dataset = std::make_shared<const Dataset>(std::vector<std::shared_ptr<Source>>{data.source}, table,
                                                       std::vector<std::string>{});
  Loader loader(dataset, small_recipe(), {.batch = 1});
  EXPECT_THAT(error_of([&] { loader.next(); }).what(), HasSubstr("it has no field 'image'"));
}

TEST(Loader, WritesTheAuditOfWhatItDelivers) {
  const MemoryDataset data = memory_dataset({.samples = 9});
  const TempFolder folder;
  const std::string path = folder.path("audit.jsonl");
  std::vector<std::string> want;
  {
    Loader loader(data.dataset, small_recipe(), {.batch = 4, .tail = Tail::kPad, .audit = path});
    want = audit_of(loader, 2);
  }
  std::ifstream file(path);
  std::vector<std::string> got;
  for (std::string line; std::getline(file, line);) {
    const auto row = nlohmann::json::parse(line);
    EXPECT_EQ(row.size(), 4u);
    got.push_back(fmt::format("{} {} {} {}", row["epoch"].get<int>(), row["position"].get<int>(),
                              row["key"].get<std::string>(), row["hash"].get<std::string>()));
  }
  EXPECT_EQ(got, want);
  EXPECT_EQ(got.size(), 18u);
  EXPECT_EQ(error_of([&] { Loader(data.dataset, small_recipe(), {.batch = 4, .audit = "/nonexistent/audit"}); }).kind(),
            ErrorKind::kIo);
}

}  // namespace
}  // namespace stoker
