// What a source remembers of each read while it is under way, kept for later reads: nothing is allocated in the steady
// state.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "stoker/base/home_process.h"

namespace stoker {

/// Threads: any.
template <typename Read>
class KeptReads {
 public:
  /// The caller's until it is given back; it has what its last user left in it. Throws std::bad_alloc.
  Read& take() {
    if (!home_.here()) return *std::make_unique<Kept>().release();  // a thread that is not here may hold the lock
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      reads_.push_back(std::make_unique<Kept>());
      free_.reserve(reads_.size());  // giving back must not fail
      reads_.back()->is_ours = true;
      return *reads_.back();
    }
    Kept* const read = free_.back();
    free_.pop_back();
    return *read;
  }

  void give_back(Read& read) noexcept {
    auto& kept = static_cast<Kept&>(read);
    if (!kept.is_ours) {
      delete &kept;
      return;
    }
    const std::lock_guard lock(mutex_);
    free_.push_back(&kept);
  }

 private:
  struct Kept : Read {
    bool is_ours = false;
  };

  const HomeProcess home_{};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Kept>> reads_;  // all that were ever under way at once
  std::vector<Kept*> free_;
};

}  // namespace stoker
