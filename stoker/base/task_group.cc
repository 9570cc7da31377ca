#include "stoker/base/task_group.h"

#include <utility>

namespace stoker {

void TaskGroup::run(Executor& executor, std::function<void()> work) {
  Item* item;
  {
    const std::lock_guard lock(mutex_);
    item = &items_.emplace_back(Item{this, std::move(work)});
    ++pending_;
  }
  const auto task = [](void* context) noexcept {
    auto& started = *static_cast<Item*>(context);
    started.work();
    // Notified under the lock: once the lock is free, the group may be destroyed.
    TaskGroup& group = *started.group;
    const std::lock_guard lock(group.mutex_);
    if (--group.pending_ == 0) group.ended_.notify_all();
  };
  executor.submit({task, item});
}

void TaskGroup::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return pending_ == 0; });
  items_.clear();
}

}  // namespace stoker
