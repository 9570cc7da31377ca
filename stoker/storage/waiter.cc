#include "stoker/storage/waiter.h"

namespace stoker {
namespace {

thread_local IntrusiveQueue<Waiter>* t_turn = nullptr;  // those this thread is about to resume

}  // namespace

void resume_in_turn(IntrusiveQueue<Waiter> ready) noexcept {
  if (t_turn) return t_turn->append(ready);
  t_turn = &ready;
  while (Waiter* const waiter = ready.pop()) waiter->resume(*waiter);
  t_turn = nullptr;
}

}  // namespace stoker
