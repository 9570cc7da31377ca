// A task for each of several things, run by an executor, for one thread that waits until all have ended.
#pragma once

#include <cstddef>
#include <vector>

#include "stoker/base/executor.h"
#include "stoker/base/pending.h"
#include "stoker/base/stop_scope.h"

namespace stoker {

/// Calls `work`, which must not throw, with each of `numbers`; a stop of this thread (StopScope) is theirs, too. Not to
/// be called from a task of the executor.
template <typename Work>
void run_side_by_side(Executor& executor, const std::vector<std::size_t>& numbers, const Work& work) {
  struct One {
    const Work* work;
    std::size_t number;
    Pending* pending;
    std::stop_token stop;
  };
  std::vector<One> all;
  all.reserve(numbers.size());
  Pending pending;
  for (const std::size_t number : numbers) {
    One& one = all.emplace_back(One{&work, number, &pending, StopScope::current()});
    pending.begin();
    executor.submit({[](void* context) noexcept {
                       const One& mine = *static_cast<const One*>(context);
                       {
                         const StopScope scope(mine.stop);
                         (*mine.work)(mine.number);
                       }
                       mine.pending->end();
                     },
                     &one});
  }
  pending.wait();
}

}  // namespace stoker
