#include "stoker/format/open/data_shard.h"

#include <utility>

#include "stoker/base/error.h"

namespace stoker {

DataShard::DataShard(OpenedShard opened)
    : name_(opened.source->name()),
      bytes_(opened.rows->bytes()),
      fingerprint_(opened.rows->fingerprint()),
      is_open_(true),
      opened_(std::move(opened)) {}

DataShard::DataShard(std::string name, std::int64_t samples, std::uint64_t bytes, Fingerprint fingerprint,
                     std::function<OpenedShard()> open)
    : name_(std::move(name)),
      bytes_(bytes),
      fingerprint_(fingerprint.value(), samples),
      open_(std::move(open)),
      is_open_(false) {}

const OpenedShard& DataShard::opened() const {
  if (is_open_.load(std::memory_order_acquire)) return opened_;
  const std::lock_guard lock(mutex_);
  if (is_open_.load(std::memory_order_relaxed)) return opened_;
  opened_ = open_();
  is_open_.store(true, std::memory_order_release);
  return opened_;
}

}  // namespace stoker
