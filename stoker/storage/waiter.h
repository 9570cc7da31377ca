// What waits for one of a bounded number of things (descriptors, buffers). It is called when its turn has come, so that
// no thread blocks.
#pragma once

#include "stoker/storage/run_in_turn.h"

namespace stoker {

struct Waiter {
  void (*resume)(Waiter& waiter) noexcept = nullptr;  // called when it has what it waited for, on any thread
  void* context = nullptr;                            // the owner's
  Waiter* next = nullptr;
};

/// Resumes them on this thread, the first first. One that is resumed may well make others ready: they are resumed after
/// it, not within it, however many there are. Holds no lock; takes nothing that may be gone once the last was resumed.
inline void resume_in_turn(IntrusiveQueue<Waiter> ready) noexcept {
  run_in_turn(nullptr, ready, [](Waiter& waiter) { waiter.resume(waiter); });
}

}  // namespace stoker
