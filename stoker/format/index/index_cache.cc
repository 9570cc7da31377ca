#include "stoker/format/index/index_cache.h"

#include <utility>

namespace stoker {
namespace {

constexpr std::size_t kSparesMax = 64;

}  // namespace

int IndexCache::add_index(std::int64_t blocks) {
  const std::lock_guard lock(mutex_);
  slots_of_.emplace_back(static_cast<std::size_t>(blocks), -1);
  return static_cast<int>(slots_of_.size()) - 1;
}

bool IndexCache::holds(int index, std::int64_t block) const {
  const std::lock_guard lock(mutex_);
  return slots_of_[static_cast<std::size_t>(index)][static_cast<std::size_t>(block)] >= 0;
}

bool IndexCache::read(int index, std::int64_t block, std::int64_t row, std::span<const std::string> names,
                      SampleRow& into) {
  const std::lock_guard lock(mutex_);
  const std::int32_t number = slot_of(index, block);
  if (number < 0) return false;
  Slot& slot = slots_[static_cast<std::size_t>(number)];
  slot.recent = true;
  slot.loaded.block.read(row, names, into);
  return true;
}

void IndexCache::insert(int index, std::int64_t block, LoadedBlock loaded) {
  const std::lock_guard lock(mutex_);
  if (slot_of(index, block) >= 0) return;  // another thread was faster
  bytes_ += loaded.bytes.size();
  while (bytes_ > bytes_max_ && free_.size() < slots_.size()) evict_one();
  // Where the hand has just been, so that it comes by last: what is fetched ahead must still be there when its rows are
  // asked for.
  if (free_.empty()) {
    free_.push_back(slots_.size());
    slots_.emplace_back();
  }
  slot_of(index, block) = static_cast<std::int32_t>(free_.back());
  slots_[free_.back()] = {index, block, std::move(loaded), false};
  free_.pop_back();
}

void IndexCache::evict_one() {
  const auto next = [this] { hand_ = (hand_ + 1) % slots_.size(); };
  while (slots_[hand_].index < 0 || std::exchange(slots_[hand_].recent, false)) next();
  Slot& slot = slots_[hand_];
  slot_of(slot.index, slot.block) = -1;
  bytes_ -= slot.loaded.bytes.size();
  if (spares_.size() < kSparesMax) spares_.push_back(std::move(slot.loaded));
  slot = {};
  free_.push_back(hand_);
  next();
}

LoadedBlock IndexCache::spare() {
  const std::lock_guard lock(mutex_);
  if (spares_.empty()) return {};
  LoadedBlock spare = std::move(spares_.back());
  spares_.pop_back();
  return spare;
}

}  // namespace stoker
