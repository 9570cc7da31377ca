#include "stoker/runtime/board/encoded_arena.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace stoker {
namespace {

std::size_t aligned(std::size_t bytes) { return std::max(EncodedArena::in_units(bytes), EncodedArena::kUnit); }

}  // namespace

EncodedArena::EncodedArena(std::size_t capacity, Allocator& allocator)
    : capacity_(aligned(capacity)), allocator_(allocator), memory_(allocator, capacity_), blocks_(64) {}

std::size_t EncodedArena::used() const {
  if (empty()) return 0;
  const std::size_t begin = block(first_).begin, end = block(first_ + count_ - 1).end;
  return begin < end ? end - begin : turn_ - begin + end;
}

std::size_t EncodedArena::place_for(std::size_t bytes) const {
  if (empty()) return bytes <= memory_.size() ? 0 : kNowhere;
  const std::size_t begin = block(first_).begin, end = block(first_ + count_ - 1).end;
  if (begin < end) {  // free: after the newest block, or before the oldest
    const std::size_t to_come = used_most_ - std::min(used(), used_most_);  // before the oldest block is released
    const bool begins_anew = begin >= std::max(to_come, bytes);
    if (bytes <= memory_.size() - end && !begins_anew) return end;
    return bytes <= begin ? 0 : kNowhere;
  }
  return bytes <= begin - end ? end : kNowhere;
}

bool EncodedArena::fits(std::size_t bytes) const { return empty() || place_for(aligned(bytes)) != kNowhere; }

EncodedArena::Grant EncodedArena::grant(std::size_t bytes) {
  const std::size_t size = aligned(bytes);
  if (empty() && (size > memory_.size() || memory_.size() > capacity_)) {
    memory_ = Memory();  // before the next one is taken: never both at once
    memory_ = Memory(allocator_, std::max(size, capacity_));
  }
  const std::size_t begin = place_for(size);
  assert(begin != kNowhere);
  if (count_ == blocks_.size()) grow_blocks();
  if (begin == 0 && !empty()) turn_ = block(first_ + count_ - 1).end;
  const std::uint64_t number = first_ + count_++;
  block(number) = {begin, begin + size, false};
  end_place_ += size;
  return {MutableBytes(memory_.data() + begin, bytes), number, end_place_ - size};
}

void EncodedArena::release(const Grant& grant) {
  assert(grant.number >= first_ && grant.number < first_ + count_);
  block(grant.number).released = true;
  while (count_ > 0 && block(first_).released) {
    ++first_;
    --count_;
  }
}

void EncodedArena::grow_blocks() {
  std::vector<Block> larger(blocks_.size() * 2);
  for (std::uint64_t number = first_; number < first_ + count_; ++number)
    larger[number % larger.size()] = block(number);
  blocks_ = std::move(larger);
}

}  // namespace stoker
