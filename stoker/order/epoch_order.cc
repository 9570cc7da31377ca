#include "stoker/order/epoch_order.h"

#include <cassert>

#include "stoker/base/error.h"

namespace stoker {

EpochOrder::EpochOrder(const OrderOptions& options, std::int64_t epoch)
    : samples_(options.samples),
      repeats_(options.repeats),
      global_batch_(options.global_batch),
      different_slots_(options.different_slots()),
      tail_(options.tail) {
  assert(global_batch_ > 0 && repeats_ > 0 && different_slots_ * options.batch_repeats == global_batch_);
  const std::int64_t positions = samples_ * repeats_;
  const std::int64_t whole = positions / global_batch_;
  const bool incomplete = positions % global_batch_ != 0;
  batches_ = tail_ == Tail::kDrop ? whole : whole + (incomplete ? 1 : 0);
  if (samples_ == 0) return;
  if (!options.mixture.empty()) {
    mixed_.emplace(options);
    // Every draw comes exactly once; otherwise shares would not be exact in the long run.
    const std::int64_t slots = batches_ * different_slots_;
    const std::int64_t draws = counts_each_once(tail_) ? samples_ : (slots + repeats_ - 1) / repeats_;
    if (__builtin_mul_overflow(epoch, draws, &first_draw_) || first_draw_ > INT64_MAX - slots) {
      fail(ErrorKind::kUsage, "too many draws precede epoch {} of a mixture", epoch);
    }
  } else if (options.kind == OrderKind::kGlobal) {
    permutation_.emplace(static_cast<std::uint64_t>(samples_), options.seed, static_cast<std::uint64_t>(epoch));
  } else if (options.kind == OrderKind::kWindowed) {
    OrderOptions once = options;
    once.global_batch = different_slots_ / repeats_;
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
  std::int64_t draw = draw_of(position);
  if (windowed_) return windowed_->sample_at(draw);
  if (draw >= samples_ && counts_each_once(tail_)) return std::nullopt;
  if (mixed_) return mixed_->sample_at(first_draw_ + draw);
  draw %= samples_;
  return permutation_ ? permutation_->at(draw) : draw;
}

bool EpochOrder::window_began_by(std::int64_t position, std::int64_t batch) const {
  return windowed_ && windowed_->window_began_by(draw_of(position), batch);
}

// Several positions show the same of the epoch's draws.
std::int64_t EpochOrder::draw_of(std::int64_t position) const {
  const std::int64_t batch = position / global_batch_, slot = position % global_batch_;
  return (batch * different_slots_ + slot % different_slots_) / repeats_;
}

}  // namespace stoker
