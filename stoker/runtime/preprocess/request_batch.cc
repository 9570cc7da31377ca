#include "stoker/runtime/preprocess/request_batch.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace stoker {

RequestBatches::RequestBatches(std::vector<OutputSpec> outputs, int kept_max)
    : outputs_(std::move(outputs)), kept_max_(static_cast<std::size_t>(kept_max)) {
  shelf_->kept.reserve(kept_max_ + 1);  // so that nothing has to be allocated when a batch comes back
}

std::shared_ptr<RequestBatch> RequestBatches::take(int slots) {
  // A few sizes, so that what is kept fits often.
  const auto room = static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(slots, 1))));
  std::unique_ptr<RequestBatch> batch;
  {
    const std::lock_guard lock(shelf_->mutex);
    std::vector<Kept>& kept = shelf_->kept;
    const auto found = std::find_if(kept.rbegin(), kept.rend(), [&](const Kept& each) { return each.slots == room; });
    if (found != kept.rend()) {
      batch = std::move(found->batch);
      kept.erase(std::next(found).base());
    }
  }
  if (!batch) batch = std::make_unique<RequestBatch>(outputs_, room, host_allocator());
  const auto give_back = [shelf = shelf_, room, kept_max = kept_max_](RequestBatch* released) noexcept {
    Kept back{room, std::unique_ptr<RequestBatch>(released)};
    Kept oldest;  // destroyed without the lock
    const std::lock_guard lock(shelf->mutex);
    shelf->kept.push_back(std::move(back));
    if (shelf->kept.size() <= kept_max) return;
    oldest = std::move(shelf->kept.front());
    shelf->kept.erase(shelf->kept.begin());
  };
  return {batch.release(), give_back};
}

}  // namespace stoker
