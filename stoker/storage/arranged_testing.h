// Contents in stretches, in an order of their own, for tests.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/storage/arranged_source.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {

/// The bytes of an object, between others, and how they make up `content`.
struct TornContent {
  /// In stretches of up to so many bytes, in any order.
  TornContent(const std::vector<std::uint8_t>& content, std::uint64_t stretch_max, std::uint64_t seed) {
    struct Stretch {
      std::uint64_t begin, length, offset = 0;
    };
    Random random(seed, 0, 0, 0);
    std::vector<Stretch> stretches;
    for (std::uint64_t at = 0; at < content.size(); at += stretches.back().length) {
      stretches.push_back({.begin = at, .length = std::min(content.size() - at, 1 + random.below(stretch_max))});
    }
    std::vector<Stretch*> placed;
    for (Stretch& stretch : stretches) placed.push_back(&stretch);
    for (std::size_t left = placed.size(); left > 1; --left) std::swap(placed[random.below(left)], placed[left - 1]);
    for (Stretch* const stretch : placed) {
      bytes.resize(bytes.size() + random.below(3), 0xAA);  // of nothing
      stretch->offset = bytes.size();
      const auto begin = content.begin() + static_cast<std::ptrdiff_t>(stretch->begin);
      bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(stretch->length));
    }
    for (const Stretch& stretch : stretches) order->add(stretch.offset, stretch.length);
  }

  std::shared_ptr<Source> object() const { return std::make_shared<MemorySource>("memory", bytes); }

  std::vector<std::uint8_t> bytes{};
  std::shared_ptr<StretchOrder> order = std::make_shared<StretchOrder>();
};

}  // namespace stoker
