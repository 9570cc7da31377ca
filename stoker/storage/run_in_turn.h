// Work that comes up while a thread does other work of the same kind: it is done after that, not within it, however
// much there is. So no stack grows, and no task waits for room in a queue that only its own end would make.
#pragma once

#include "stoker/storage/intrusive_queue.h"

namespace stoker {

/// What a thread does for one owner, and what has come up for it since.
template <typename T>
struct TurnOfThread {
  const void* owner;
  IntrusiveQueue<T> waiting;
  TurnOfThread* outer;  // an owner's work may begin another's

  static inline thread_local TurnOfThread* current = nullptr;
};

/// Takes the elements if this thread is in the middle of a turn of the owner's, which then does them, too.
template <typename T>
bool leave_to_turn(const void* owner, IntrusiveQueue<T> elements) noexcept {
  for (TurnOfThread<T>* turn = TurnOfThread<T>::current; turn; turn = turn->outer) {
    if (turn->owner != owner) continue;
    turn->waiting.append(elements);
    return true;
  }
  return false;
}

/// Calls `work` for each element, here or in the turn that this thread is in the middle of. An element, and the owner
/// after its last one, may be gone once `work` returns.
template <typename T, typename Work>
void run_in_turn(const void* owner, IntrusiveQueue<T> elements, Work work) noexcept {
  if (leave_to_turn(owner, elements)) return;
  TurnOfThread<T> turn{owner, elements, TurnOfThread<T>::current};
  TurnOfThread<T>::current = &turn;
  while (T* const element = turn.waiting.pop()) work(*element);
  TurnOfThread<T>::current = turn.outer;
}

/// What waits for one of a bounded number of things (descriptors, buffers). It is called when its turn has come, so
/// that no thread blocks.
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
