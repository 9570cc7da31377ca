#include "stoker/order/epoch_order.h"

#include <cassert>

namespace stoker {

EpochOrder::EpochOrder(const OrderOptions& options, std::int64_t epoch)
    : samples_(options.samples), tail_(options.tail) {
  assert(options.global_batch > 0);
  const std::int64_t whole = samples_ / options.global_batch;
  const bool incomplete = samples_ % options.global_batch != 0;
  batches_ = tail_ == Tail::kDrop ? whole : whole + (incomplete ? 1 : 0);
  if (samples_ == 0) return;
  if (options.kind == OrderKind::kGlobal) {
    permutation_.emplace(static_cast<std::uint64_t>(samples_), options.seed, static_cast<std::uint64_t>(epoch));
  } else if (options.kind == OrderKind::kWindowed) {
    windowed_.emplace(options, epoch);
  }
}

std::optional<std::int64_t> EpochOrder::sample_at(std::int64_t position) const {
  if (windowed_) return windowed_->sample_at(position);
  if (position >= samples_) {
    if (tail_ == Tail::kPad) return std::nullopt;
    position %= samples_;
  }
  return permutation_ ? static_cast<std::int64_t>((*permutation_)(static_cast<std::uint64_t>(position))) : position;
}

}  // namespace stoker
