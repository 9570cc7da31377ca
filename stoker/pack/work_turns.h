// Threads that process large samples take turns with the memory for them. A part is reserved for the oldest sample,
// which never waits, so that every sample completes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>

#include "stoker/pack/job_memory.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

class WorkTurns {
 public:
  WorkTurns(const JobMemory& memory, int threads) : memory_(memory), threads_(threads) {}

  /// Of some samples that one thread works on, until they are done with.
  class Turn final : public MemoryGate {
   public:
    ~Turn() override;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// A sample takes so many bytes to be worked on, from now until leave(). Called again it counts what is more. Waits
    /// until there are so many, or these are the oldest samples. Throws kMemory for more than the budget can ever hold,
    /// saying which would do, and kClosed when asked to stop.
    std::int64_t enter(std::uint64_t bytes) override;
    /// Whether the sample takes more than threads may keep.
    bool is_large() const { return has_ > 0; }
    std::uint64_t has() const { return has_; }
    /// The work on it is done; so much of what was made of it stays until the turn ends.
    void leave(std::uint64_t held);

   private:
    friend class WorkTurns;
    Turn(WorkTurns& turns, std::uint64_t number, std::stop_token stop)
        : turns_(turns), number_(number), stop_(std::move(stop)) {}

    WorkTurns& turns_;
    const std::uint64_t number_;
    const std::stop_token stop_;
    std::uint64_t has_ = 0;   // of the sample at hand
    std::uint64_t held_ = 0;  // of those before it
  };

  /// The next turn: younger than all others. `stop` ends its waiting.
  std::unique_ptr<Turn> next(std::stop_token stop);
  /// The most bytes that were in use at once.
  std::uint64_t most() const;

 private:
  const JobMemory memory_;
  const int threads_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;  // the kind that a stop request wakes
  std::set<std::uint64_t> under_way_;    // turns
  std::uint64_t next_ = 0;
  std::uint64_t used_ = 0, most_ = 0;
};

}  // namespace stoker
