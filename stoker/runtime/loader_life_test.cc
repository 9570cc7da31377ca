// How loaders end, are closed, forked, outlived.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <stop_token>
#include <thread>

#include "stoker/base/child_testing.h"
#include "stoker/base/clock.h"
#include "stoker/base/error_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/source.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

std::size_t threads_of_this_process() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

TEST(Loader, IsInertInAForkedChild) {
  if (!kChildrenOfThreadsWork) GTEST_SKIP() << "a forked child of several threads may hang";
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
  if (!kChildrenOfThreadsWork) GTEST_SKIP() << "a forked child of several threads may hang";
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

TEST(Open, ADatasetServesALoaderInAForkedChildToo) {
  if (!kChildrenOfThreadsWork) GTEST_SKIP() << "a forked child of several threads may hang";
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
  EXPECT_EQ(error_of([&] { loader.set({.threads = 2}); }).kind(), ErrorKind::kClosed);
  EXPECT_EQ(error_of([&] { loader.load_state(loader.state()); }).kind(), ErrorKind::kClosed);
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
    EXPECT_GE(threads_of_this_process(), before + 8);
    grown.set({.threads = 1});
    EXPECT_EQ(threads_of_this_process(), before + 3) << "the reader, a worker, and the tuner";
  }
  EXPECT_EQ(threads_of_this_process(), before);
}

TEST(Loader, MakesTheNextEpochsFirstBatchBeforeItIsAskedFor) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), {.batch = 8, .threads = 1, .prefetch = 1});
  loader.start_epoch(0);
  // However slow the machine, some pause is long enough: the batch would never be ready if no worker took it.
  bool was_ready = false;
  for (auto pause = std::chrono::milliseconds(1); !was_ready && pause < std::chrono::minutes(1); pause *= 4) {
    while (loader.next()) {
    }
    std::this_thread::sleep_for(pause);  // tidy: nothing says that a batch is ready but taking it
    const std::int64_t asked_ns = now_ns();
    was_ready = loader.next()->ready_ns() < asked_ns;
  }
  EXPECT_TRUE(was_ready);
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

}  // namespace
}  // namespace stoker
