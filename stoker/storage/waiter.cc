#include "stoker/storage/waiter.h"

namespace stoker {
namespace {

thread_local IntrusiveQueue<Waiter>* t_waiters = nullptr;  // those this thread is about to resume

}  // namespace

void resume_in_turn(IntrusiveQueue<Waiter> ready) noexcept {
  if (t_waiters) return t_waiters->append(ready);
  t_waiters = &ready;
  while (Waiter* const waiter = ready.pop()) waiter->resume(*waiter);
  t_waiters = nullptr;
}

}  // namespace stoker
