// One thing after the other, not one within the other: what ends one may start the next, however many there are, and
// the stack does not grow. Threads: each has turns of its own.
#pragma once

#include "stoker/storage/intrusive_queue.h"

namespace stoker {

/// Elements that a thread works on for an owner, and the turn within which it does.
template <typename T>
struct ThreadTurn {
  const void* owner;
  IntrusiveQueue<T> elements;
  ThreadTurn* outer;
};
template <typename T>
inline thread_local ThreadTurn<T>* t_turn = nullptr;

/// Leaves the elements to the turn that this thread is in for the owner; false if it is in none.
template <typename T>
bool join_turn(const void* owner, IntrusiveQueue<T>& elements) {
  for (ThreadTurn<T>* turn = t_turn<T>; turn; turn = turn->outer) {
    if (turn->owner != owner) continue;
    turn->elements.append(elements);
    return true;
  }
  return false;
}

/// Works on them, in order, and on all that come meanwhile for the owner: one, or more. When it returns they, and the
/// owner, may be gone; unless this thread is in the owner's turn already, which goes on with them later.
template <typename T, typename Work>
void run_in_turn(const void* owner, IntrusiveQueue<T> elements, Work work) {
  if (join_turn(owner, elements)) return;
  ThreadTurn<T> turn{owner, elements, t_turn<T>};
  t_turn<T> = &turn;
  while (T* const element = turn.elements.pop()) work(*element);
  t_turn<T> = turn.outer;
}

}  // namespace stoker
