#include "stoker/storage/read_group.h"
#include "stoker/storage/source.h"

namespace stoker {

void ReadGroup::start(Source& source, ReadRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    ++pending_;
  }
  request.context = this;
  request.done = [](ReadRequest& ended) noexcept {
    auto& group = *static_cast<ReadGroup*>(ended.context);
    // Told under the lock: once it is free the group may be gone.
    const std::lock_guard lock(group.mutex_);
    if (--group.pending_ == 0) group.ended_.notify_all();
  };
  source.start(request);
}

void ReadGroup::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return pending_ == 0; });
}

}  // namespace stoker
