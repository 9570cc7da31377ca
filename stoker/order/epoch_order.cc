#include "stoker/order/epoch_order.h"

#include <cassert>

#include "stoker/base/error.h"

namespace stoker {

EpochOrder::EpochOrder(const OrderOptions& options, std::int64_t epoch)
    : samples_(options.samples), repeats_(options.repeats), tail_(options.tail) {
  assert(options.global_batch > 0 && repeats_ > 0);
  const std::int64_t positions = samples_ * repeats_;
  const std::int64_t whole = positions / options.global_batch;
  const bool incomplete = positions % options.global_batch != 0;
  batches_ = tail_ == Tail::kDrop ? whole : whole + (incomplete ? 1 : 0);
  if (samples_ == 0) return;
  if (!options.mixture.empty()) {
    mixed_.emplace(options);
    // Every draw comes exactly once; otherwise shares would not be exact in the long run.
    const std::int64_t slots = batches_ * options.global_batch;
    const std::int64_t draws = counts_each_once(tail_) ? samples_ : (slots + repeats_ - 1) / repeats_;
    if (__builtin_mul_overflow(epoch, draws, &first_draw_) || first_draw_ > INT64_MAX - slots) {
      fail(ErrorKind::kUsage, "too many draws precede epoch {} of a mixture", epoch);
    }
  } else if (options.kind == OrderKind::kGlobal) {
    permutation_.emplace(static_cast<std::uint64_t>(samples_), options.seed, static_cast<std::uint64_t>(epoch));
  } else if (options.kind == OrderKind::kWindowed) {
    OrderOptions once = options;
    once.global_batch /= repeats_;
    windowed_.emplace(once, epoch);
  }
}

std::int64_t EpochOrder::batches_of(const RankSlice& slice) const {
  return batches_ > 0 && slots_of(slice, batches_ - 1) == 0 ? batches_ - 1 : batches_;
}

int EpochOrder::slots_of(const RankSlice& slice, std::int64_t batch_index) const {
  if (tail_ != Tail::kKeep || batch_index + 1 < batches_) return slice.batch;
  int slots = 0;
  for (int slot = 0; slot < slice.batch; ++slot) slots += sample_at(slice.position(batch_index, slot)) ? 1 : 0;
  return slots;
}

std::optional<std::int64_t> EpochOrder::sample_at(std::int64_t position) const {
  position /= repeats_;
  if (windowed_) return windowed_->sample_at(position);
  if (position >= samples_ && counts_each_once(tail_)) return std::nullopt;
  if (mixed_) return mixed_->sample_at(first_draw_ + position);
  position %= samples_;
  return permutation_ ? permutation_->at(position) : position;
}

}  // namespace stoker
