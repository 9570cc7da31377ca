#include "stoker/format/index_cache.h"

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
  if (slot_of(index, block) >= 0) return;  // somebody else was faster
  bytes_ += loaded.bytes.size();
  while (bytes_ > bytes_max_ && !slots_.empty()) evict_one();
  slot_of(index, block) = static_cast<std::int32_t>(slots_.size());
  slots_.push_back({index, block, std::move(loaded), false});
}

void IndexCache::evict_one() {
  for (;; ++hand_) {
    if (hand_ >= slots_.size()) hand_ = 0;
    if (!std::exchange(slots_[hand_].recent, false)) break;
  }
  Slot& slot = slots_[hand_];
  slot_of(slot.index, slot.block) = -1;
  bytes_ -= slot.loaded.bytes.size();
  if (spares_.size() < kSparesMax) spares_.push_back(std::move(slot.loaded));
  if (hand_ + 1 < slots_.size()) {
    slot = std::move(slots_.back());
    slot_of(slot.index, slot.block) = static_cast<std::int32_t>(hand_);
  }
  slots_.pop_back();
}

LoadedBlock IndexCache::spare() {
  const std::lock_guard lock(mutex_);
  if (spares_.empty()) return {};
  LoadedBlock spare = std::move(spares_.back());
  spares_.pop_back();
  return spare;
}

}  // namespace stoker
