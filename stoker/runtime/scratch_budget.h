// The part of the memory budget that decoding takes. Most images fit into what each worker may keep; larger ones take
// turns with the rest, however many come at once.
#pragma once

#include <cstdint>
#include <stop_token>

#include "stoker/base/byte_budget.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

/// Threads: any.
class ScratchBudget {
 public:
  ScratchBudget(std::uint64_t bytes, int threads);

  /// What a worker may take and keep without asking.
  std::uint64_t allowance() const { return allowance_; }
  /// The largest image that can be decoded takes this much.
  std::uint64_t most() const { return for_large_; }

  /// From here on nobody waits for memory: what asks for it fails with kClosed.
  void close() { stop_.request_stop(); }

 private:
  friend class ScratchGate;

  std::uint64_t allowance_, for_large_;
  ByteBudget large_;
  std::stop_source stop_;
};

/// One worker's. The budget must outlive it.
class ScratchGate final : public MemoryGate {
 public:
  explicit ScratchGate(ScratchBudget& budget) : budget_(budget) {}

  void enter(std::uint64_t bytes) override;
  /// Whether the sample took more than the worker may keep: its scratch memory is to be dropped before leave().
  bool is_large() const { return taken_ > 0; }
  /// How much, of a large one.
  std::uint64_t taken() const { return taken_; }
  void leave();

 private:
  ScratchBudget& budget_;
  ByteBudget::Grant grant_;
  std::uint64_t taken_ = 0;
};

}  // namespace stoker
