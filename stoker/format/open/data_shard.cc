#include "stoker/format/open/data_shard.h"

#include <utility>

namespace stoker {

DataShard::DataShard(OpenedShard opened)
    : name_(opened.source->name()),
      bytes_(opened.rows->bytes()),
      fingerprint_(opened.rows->fingerprint()),
      is_open_(true),
      opened_(std::move(opened)) {}

DataShard::DataShard(std::string name, std::int64_t samples, std::uint64_t bytes, Fingerprint fingerprint,
                     std::shared_ptr<const LateShards> late, std::size_t number)
    : name_(std::move(name)),
      bytes_(bytes),
      fingerprint_(fingerprint.value(), samples),
      late_(std::move(late)),
      number_(number),
      is_open_(false) {}

std::optional<std::size_t> DataShard::late_number() const {
  return is_open_.load(std::memory_order_acquire) ? std::nullopt : std::optional(number_);
}

const OpenedShard& DataShard::opened() const {
  if (is_open_.load(std::memory_order_acquire)) return opened_;
  const std::lock_guard lock(mutex_);
  if (is_open_.load(std::memory_order_relaxed)) return opened_;
  opened_ = late_->open(number_);
  is_open_.store(true, std::memory_order_release);
  return opened_;
}

}  // namespace stoker
