#include "stoker/codec/jpeg/segment_layout.h"

#include <algorithm>

namespace stoker {
McuGrid::McuGrid(const JpegHeader& header)
    : across(divide_up(header.width, 8 * header.across_max())),
      down(divide_up(header.height, 8 * header.down_max())),
      mcu_width(8 * header.across_max()),
      mcu_height(8 * header.down_max()) {
  for (int c = 0; c < header.component_count; ++c) {
    const JpegComponent& part = header.components[static_cast<std::size_t>(c)];
    for (int i = 0; i < part.across * part.down; ++i) component[static_cast<std::size_t>(blocks++)] = c;
  }
}

SegmentLayout::SegmentLayout(const JpegHeader& header) : components_(header.component_count) {
  int groups = 0;
  for (int c = 0; c < components_; ++c) {
    const auto i = static_cast<std::size_t>(c);
    across_[i] = header.components[i].across;
    down_[i] = header.components[i].down;
    first_group_[i] = groups;
    groups += 2 * across_[i] * down_[i];
    mcu_blocks_ += across_[i] * down_[i];
  }
  blocks_ = kSegmentMcus * mcu_blocks_;
  int block = 0;
  for (int mcu = 0; mcu < kSegmentMcus; ++mcu) {
    for (int c = 0; c < components_; ++c) {
      const auto i = static_cast<std::size_t>(c);
      for (int b = 0; b < across_[i] * down_[i]; ++b, ++block) {
        const int row = b / across_[i], column = mcu * across_[i] + b % across_[i];
        component_[static_cast<std::size_t>(block)] = static_cast<std::uint8_t>(c);
        const int first = group_place(c, row, column / kGroupBlocks) + column % kGroupBlocks * 8;
        for (int k = 0; k < 64; ++k) {
          const int natural = kZigzag[static_cast<std::size_t>(k)];
          const int place = first + natural / 8 * (8 * kGroupBlocks) + natural % 8;
          places_[static_cast<std::size_t>(block * 64 + k)] = static_cast<std::uint16_t>(2 * place);
        }
      }
    }
  }
  std::fill(places_.begin() + end(), places_.end(), static_cast<std::uint16_t>(2 * coefficients()));
}

bool SegmentLayout::fits(const JpegHeader& header) const {
  if (components_ != header.component_count) return false;
  for (int c = 0; c < components_; ++c) {
    const auto i = static_cast<std::size_t>(c);
    if (across_[i] != header.components[i].across || down_[i] != header.components[i].down) return false;
  }
  return true;
}

int SegmentLayout::group_place(int component, int row, int g) const {
  const auto i = static_cast<std::size_t>(component);
  return (first_group_[i] + row * groups(component) + g) * kGroupCoefficients;
}

}  // namespace stoker
