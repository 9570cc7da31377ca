// What takes long happens where the loader's lock is free: another thread gets its answers meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

/// Memory that is neither given nor taken back before another thread has asked the loader something, which takes its
/// lock, and was answered.
class AskingAllocator final : public Allocator {
 public:
  ~AskingAllocator() override {
    watch(nullptr);
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    asker_.join();
  }

  std::uint8_t* allocate(std::size_t bytes) override {
    wait_for_answer(taken);
    return host_allocator().allocate(bytes);
  }
  void deallocate(std::uint8_t* memory, std::size_t bytes) noexcept override {
    wait_for_answer(given_back);
    host_allocator().deallocate(memory, bytes);
  }

  /// From now on.
  void watch(const Loader* loader) {
    const std::lock_guard lock(mutex_);
    loader_ = loader;
  }

  std::atomic<int> taken = 0, given_back = 0, unanswered = 0;

 private:
  static constexpr std::chrono::seconds kPatience{10};  // that nothing but a lock which is held exhausts

  void wait_for_answer(std::atomic<int>& count) {
    std::unique_lock lock(mutex_);
    if (!loader_) return;
    ++count;
    const int question = ++asked_;
    changed_.notify_all();
    if (!changed_.wait_for(lock, kPatience, [&] { return answered_ >= question; })) ++unanswered;
  }

  void ask() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ended_ || answered_ < asked_; });
      if (ended_) return;
      const int question = asked_;
      const Loader* const loader = loader_;
      lock.unlock();
      if (loader) loader->prefetch();
      lock.lock();
      answered_ = question;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const Loader* loader_ = nullptr;
  int asked_ = 0, answered_ = 0;
  bool ended_ = false;
  std::thread asker_{[this] { ask(); }};
};

TEST(LoaderLocks, TakesAndGivesBackMemoryForBatchesWithItsLockFree) {
  const MemoryDataset data = memory_dataset();
  AskingAllocator allocator;
  LoaderOptions options{.batch = 4, .threads = 2, .prefetch = 4, .tune = TuneMode::kOff};
  options.allocator = &allocator;
  {
    Loader loader(data.dataset, small_recipe(), options);
    allocator.watch(&loader);
    std::vector<BatchPtr> kept;
    for (int i = 0; i < 6; ++i) kept.push_back(loader.next());
    EXPECT_GE(allocator.taken, 6);
    EXPECT_EQ(allocator.given_back, 0);
    loader.set({.prefetch = 1});
    kept.clear();
    allocator.watch(nullptr);
  }
  EXPECT_EQ(allocator.unanswered, 0);
  EXPECT_GE(allocator.given_back, 1) << "what the smaller prefetch left over";
}

}  // namespace
}  // namespace stoker
