// The part of the memory budget that decoding takes. Most images fit into what each worker may keep; larger ones take
// turns with the rest, however many come at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "stoker/base/byte_budget.h"
#include "stoker/plan/cpu_executor.h"

namespace stoker {

/// Threads: any.
class ScratchBudget {
 public:
  /// Names the loader's budget in which so much can be had at once, for errors: "413MB".
  using Enough = std::function<std::string(std::uint64_t bytes)>;

  /// For so many threads, and as far as that is possible for more of them later.
  ScratchBudget(std::uint64_t bytes, int threads, int threads_later = 0, Enough enough = nullptr);

  /// Shares what workers may keep among so many. Throws kMemory where it is too little for them.
  void set_threads(int threads);
  /// What a worker may take and keep without asking.
  std::uint64_t allowance() const { return allowance_; }
  /// The largest image that can be decoded takes this much.
  std::uint64_t most() const { return for_large_; }
  bool can_ever_hold(std::uint64_t bytes) const { return bytes <= for_large_ || bytes <= allowance_; }

  /// From here on no thread waits for memory: what asks for it fails with kClosed.
  void close() { stop_.request_stop(); }

 private:
  friend class ScratchGate;

  const std::uint64_t for_small_, for_large_;
  std::atomic<std::uint64_t> allowance_{0};
  const Enough enough_;
  ByteBudget large_;
  std::stop_source stop_;
};

/// What decodes: a worker, which may keep something, or another thread, which may not. The budget must outlive it.
class ScratchGate final : public MemoryGate {
 public:
  explicit ScratchGate(ScratchBudget& budget, bool may_keep = true) : budget_(budget), may_keep_(may_keep) {}

  std::int64_t enter(std::uint64_t bytes) override;
  std::stop_token stop() const override { return budget_.stop_.get_token(); }
  /// Whether the worker has more than it may keep: its scratch memory is to be dropped before leave().
  bool must_drop() const { return is_granted_ || has_ > allowance(); }
  /// What it has, about.
  std::uint64_t has() const { return has_; }
  void leave();
  /// After each sample: all of that, where it must be.
  void drop_too_much(CpuExecutor& executor);

 private:
  std::uint64_t allowance() const { return may_keep_ ? budget_.allowance() : 0; }

  ScratchBudget& budget_;
  const bool may_keep_;
  ByteBudget::Grant grant_;
  bool is_granted_ = false;
  std::uint64_t has_ = 0;
};

}  // namespace stoker
