#include "stoker/doctor/probe/timed_reads.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>

#include "stoker/base/clock.h"
#include "stoker/tensor/allocator.h"

namespace stoker {
namespace {

// Of memory for direct reads, so that they need no copy.
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::size_t kLatenciesKept = 4096;

double per_second(double count, std::int64_t ns) { return ns > 0 ? count * 1e9 / static_cast<double>(ns) : 0; }

class ReadRing {
 public:
  ReadRing(const NextPlace& next, std::uint64_t bytes_max, const ReadTime& time)
      : next_(next), time_(time), slots_(static_cast<std::size_t>(std::max(time.depth, 1))) {
    for (Slot& slot : slots_) {
      slot.ring = this;
      slot.memory = Memory(host_allocator(), static_cast<std::size_t>(bytes_max + kPageBytes));
      const auto address = reinterpret_cast<std::uintptr_t>(slot.memory.data());
      slot.aligned = slot.memory.data() + (kPageBytes - address % kPageBytes) % kPageBytes;
    }
    result_.latencies_s.reserve(kLatenciesKept);
  }

  TimedReads run() {
    const std::int64_t cpu_before_ns = process_cpu_ns();
    began_ns_ = now_ns();
    {
      const std::lock_guard lock(mutex_);
      under_way_ = slots_.size();
    }
    for (Slot& slot : slots_) go_on(slot);
    std::unique_lock lock(mutex_);
    all_ended_.wait(lock, [&] { return under_way_ == 0; });
    if (error_) std::rethrow_exception(error_);
    result_.ns = std::max<std::int64_t>(ended_ns_ - began_ns_, 1);
    result_.cpu_ns = process_cpu_ns() - cpu_before_ns;
    return std::move(result_);
  }

 private:
  struct Slot {
    ReadRing* ring = nullptr;
    ReadRequest request;
    Memory memory;
    std::uint8_t* aligned = nullptr;
    MutableBytes into;
    std::int64_t began_ns = 0;
  };

  static void ended(ReadRequest& request) noexcept {
    Slot& slot = *static_cast<Slot*>(request.context);
    slot.ring->count(slot);
    slot.ring->go_on(slot);
  }

  void count(const Slot& slot) {
    const std::lock_guard lock(mutex_);
    ended_ns_ = now_ns();
    if (slot.request.error) {
      if (!error_) error_ = slot.request.error;
      return;
    }
    ++result_.reads;
    result_.bytes += slot.into.size();
    if (result_.latencies_s.size() < kLatenciesKept) {
      result_.latencies_s.push_back(static_cast<double>(ended_ns_ - slot.began_ns) * 1e-9);
    }
  }

  /// The slot's next read, or none: then the last slot ends the run.
  void go_on(Slot& slot) {
    std::optional<ReadPlace> place;
    {
      const std::lock_guard lock(mutex_);
      const std::int64_t now = now_ns();
      if (!error_ && (begun_ < time_.least_reads || now - began_ns_ < time_.most_ns)) place = next_();
      if (!place) {
        if (--under_way_ == 0) all_ended_.notify_one();
        return;
      }
      ++begun_;
      slot.began_ns = now;
    }
    slot.into = MutableBytes(slot.aligned, static_cast<std::size_t>(place->bytes));
    slot.request.part = place->part;
    slot.request.offset = place->offset;
    slot.request.into = Pieces(&slot.into, 1);
    slot.request.error = nullptr;
    slot.request.done = &ended;
    slot.request.context = &slot;
    place->source->start(slot.request);
  }

  const NextPlace& next_;
  const ReadTime time_;
  std::vector<Slot> slots_;
  std::int64_t began_ns_ = 0;
  std::mutex mutex_;
  std::condition_variable all_ended_;
  std::size_t under_way_ = 0;  // slots
  std::int64_t begun_ = 0, ended_ns_ = 0;
  TimedReads result_;
  std::exception_ptr error_;
};

}  // namespace

double TimedReads::reads_per_s() const { return per_second(static_cast<double>(reads), ns); }
double TimedReads::bytes_per_s() const { return per_second(static_cast<double>(bytes), ns); }
double TimedReads::reads_per_s_at_work() const {
  return std::max(reads_per_s(), per_second(static_cast<double>(reads), cpu_ns));
}
double TimedReads::bytes_per_s_at_work() const {
  return std::max(bytes_per_s(), per_second(static_cast<double>(bytes), cpu_ns));
}

TimedReads time_reads(const NextPlace& next, std::uint64_t bytes_max, const ReadTime& time) {
  return ReadRing(next, bytes_max, time).run();
}

}  // namespace stoker
