// Counts items in a queue, now and over time: the mean over a period is the difference of two readings. Waits count
// while they last, not only when they are over.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

namespace stoker {

/// Writing never waits. A reading that meets a change is made again. What one reading has after another is never less.
class Occupancy {
 public:
  struct Reading {
    std::int64_t level = 0;
    std::int64_t level_ns = 0;  // its integral over time
  };

  // A change is made by one thread at a time. The clock is read between its beginning and its end: a reader that has
  // seen the level as it was before has looked at the clock before, too.

  void begin_change() { version_.exchange(version_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst); }
  /// There are so many from `now_ns` on (base/clock.h).
  void end_change(std::int64_t level, std::int64_t now_ns) {
    const std::int64_t before = level_.load(std::memory_order_relaxed), since = since_.load(std::memory_order_relaxed);
    const std::int64_t sum = level_ns_.load(std::memory_order_relaxed);
    // Each of them is a release, so that none comes before the version became odd.
    level_ns_.store(sum + before * std::max<std::int64_t>(now_ns - since, 0), std::memory_order_release);
    level_.store(level, std::memory_order_release);
    since_.store(std::max(now_ns, since), std::memory_order_release);
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// As set last; for the thread that sets it.
  std::int64_t level() const { return level_.load(std::memory_order_relaxed); }

  /// Threads: any.
  Reading read(std::int64_t now_ns) const {
    for (;;) {
      const std::uint64_t version = version_.load(std::memory_order_acquire);
      const std::int64_t level = level_.load(std::memory_order_acquire);
      const std::int64_t sum = level_ns_.load(std::memory_order_acquire);
      const std::int64_t since = since_.load(std::memory_order_acquire);
      if (version % 2 == 0 && version_.load(std::memory_order_relaxed) == version) {
        return {level, sum + level * std::max<std::int64_t>(now_ns - since, 0)};
      }
      std::this_thread::yield();
    }
  }

 private:
  std::atomic<std::uint64_t> version_{0};  // odd while a change is under way
  std::atomic<std::int64_t> level_{0}, level_ns_{0}, since_{0};
};

}  // namespace stoker
