// What a loader does when reads fail, samples are bad or memory is short.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "stoker/base/error_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

TEST(Loader, NamesTheFirstBadSampleAfterTheBatchesBeforeIt) {
  const MemoryDataset data = memory_dataset({.bad = {17, 19, 30}});
  for (const int threads : {1, 2, 8}) {
    Loader loader(data.dataset, small_recipe(),
                  {.batch = 4, .threads = threads, .order = OrderKind::kNone, .bad_sample = BadSlotPolicy::kFail});
    loader.start_epoch(0);
    for (int batch = 0; batch < 4; ++batch) EXPECT_NE(loader.next(), nullptr);
    const Error error = error_of([&] { loader.next(); });
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    EXPECT_THAT(error.what(), HasSubstr("sample17"));
    EXPECT_THAT(error.what(), HasSubstr("memory.tar"));
    EXPECT_THAT(error_of([&] { loader.next(); }).what(), HasSubstr("sample17"));  // it stays failed
    EXPECT_EQ(loader.metrics()[Metric::kBadSamples], 2) << "both of the batch";
    loader.start_epoch(0);
    EXPECT_NE(loader.next(), nullptr);
  }
}

TEST(Loader, ReportsEveryReadThatFailsForGood) {
  for (int failing = 0; failing < 12; ++failing) {
    const MemoryDataset data = memory_dataset({.samples = 12, .faults = {.fail_reads = {failing}, .for_good = true}});
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
    const MemoryDataset data = memory_dataset({.samples = 12, .faults = {.fail_reads = {failing}}});
    Loader loader(data.dataset, small_recipe(), {.batch = 4, .threads = 2});
    EXPECT_EQ(audit_of(loader, 2), want) << failing;
  }
}

TEST(Loader, SurvivesRandomReadFaultsWithoutHanging) {
  const MemoryDataset plain = memory_dataset({.samples = 30});
  Loader reference(plain.dataset, small_recipe(), {.batch = 3});
  const auto want = audit_of(reference, 1);
  int whole = 0, failed = 0;
  Watchdog watchdog;
  for (int seed = 0; seed < rounds(20); ++seed) {
    watchdog.begin(fmt::format("seed {}", seed));
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
  LoaderOptions options{.batch = 10};
  options.memory = memory_bytes_min(*data.dataset, recipe, options) + (8 << 20);
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
  options.memory = memory_bytes_min(*data.dataset, small_recipe(), options);
  Loader loader(data.dataset, small_recipe(), options);
  const BatchPtr kept = loader.next();
  EXPECT_NE(loader.next(), nullptr) << "one batch may be kept until the next is there";
  EXPECT_EQ(audit_of(loader, 1).size(), 48u);
  options.memory = *options.memory - 1;
  EXPECT_EQ(error_of([&] { Loader(data.dataset, small_recipe(), options); }).kind(), ErrorKind::kMemory);
}

TEST(Loader, RefusesASampleThatItsMemoryHasNoRoomFor) {
  const MemoryDataset data = memory_dataset({.samples = 4, .width = 1500, .height = 1200});
  LoaderOptions options{.batch = 2, .prefetch = 1};
  options.memory = memory_bytes_min(*data.dataset, small_recipe(), options);  // the arena's megabyte, and the batches
  ASSERT_GT(data.dataset->row(0).image_field()->length, std::uint64_t{1} << 20);
  Loader loader(data.dataset, small_recipe(), options);
  const Error error = error_of([&] { loader.next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kLimit);
  EXPECT_THAT(error.what(), HasSubstr("give the loader "));
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

TEST(Loader, FailsTheEpochWhoseAuditCannotBeWritten) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), {.batch = 8, .audit = "/dev/full"});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(error_of([&] { loader.next(); }).kind(), ErrorKind::kIo);
  EXPECT_EQ(loader.metrics()[Metric::kBatches], 0);
  EXPECT_EQ(loader.metrics()[Metric::kSamples], 0);
}

TEST(Loader, ReadsSamplesLargerThanTheReadAhead) {
  const MemoryDataset data = memory_dataset({.samples = 6, .width = 1800, .height = 1500});
  LoaderOptions options{.batch = 2, .threads = 2};
  options.memory = memory_bytes_min(*data.dataset, small_recipe(), options) + (4 << 20);
  EXPECT_GT(data.dataset->row(0).fields[0].length, 1u << 20);
  Loader loader(data.dataset, small_recipe(), options);
  EXPECT_EQ(audit_of(loader, 2).size(), 12u);
}

TEST(Loader, SaysWhichFieldIsMissing) {
  SampleTable table;
  table.add_sample("lonely", 1);
  table.add_field("txt", "", 0, 4);
  const MemoryDataset data = memory_dataset({.samples = 1});
  const auto dataset = std::make_shared<const ShardedDataset>(data.source, table, std::vector<std::string>{});
  for (const BadSlotPolicy policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kFail}) {
    Loader loader(dataset, small_recipe(), {.batch = 1, .bad_sample = policy});
    EXPECT_THAT(error_of([&] { loader.next(); }).what(), HasSubstr("it has no field 'image', only txt"));
  }
}

}  // namespace
}  // namespace stoker
