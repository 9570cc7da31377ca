// The grid of MCUs of an image, and where the coefficients of a segment go.
//
// A segment is up to eight neighbouring MCUs of a row: what one bit stream decodes at a time. Its coefficients are
// stored in the order that the inverse transform needs: groups of four blocks that are neighbours across, of which a
// row is 64 bytes.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/codec/jpeg/header.h"

namespace stoker {

/// MCUs per segment, at most; and blocks per MCU.
constexpr int kSegmentMcus = 8, kMcuBlocksMax = 6;
constexpr int kSegmentBlocksMax = kSegmentMcus * kMcuBlocksMax;
constexpr int kSegmentCoefficientsMax = kSegmentBlocksMax * 64;
constexpr int kGroupBlocks = 4, kGroupCoefficients = kGroupBlocks * 64;

constexpr int divide_up(int value, int by) { return (value + by - 1) / by; }

/// How an image is divided into MCUs.
struct McuGrid {
  int across = 0, down = 0;                    // MCUs
  int mcu_width = 0, mcu_height = 0;           // pixels
  int blocks = 0;                              // per MCU
  std::array<int, kMcuBlocksMax> component{};  // of each block, in coded order

  explicit McuGrid(const JpegHeader& header);
};

/// Positions run through a segment's coefficients in coded order and zigzag order, 64 a block. Segments of fewer MCUs
/// end where the full ones end, so that the end is the same for all.
class SegmentLayout {
 public:
  /// The same for all images of a sampling.
  explicit SegmentLayout(const JpegHeader& header);
  bool fits(const JpegHeader& header) const;

  int end() const { return blocks_ * 64; }
  int begin(int mcus) const { return (kSegmentMcus - mcus) * mcu_blocks_ * 64; }
  int blocks() const { return blocks_; }
  int components() const { return components_; }
  /// Blocks of an MCU.
  int across(int component) const { return across_[static_cast<std::size_t>(component)]; }
  int down(int component) const { return down_[static_cast<std::size_t>(component)]; }
  int component_of(int block) const { return component_[static_cast<std::size_t>(block)]; }

  /// By position: where the coefficient stands in the buffer, in bytes.
  const std::uint16_t* places() const { return places_.data(); }
  /// By block: where its DC coefficient stands, in coefficients.
  int dc_place(int block) const { return places_[static_cast<std::size_t>(block) * 64] / 2; }

  /// Group g of row `row` of blocks of a component stands at this coefficient of the buffer.
  int group_place(int component, int row, int g) const;
  /// Groups in a row of blocks.
  int groups(int component) const { return 2 * across_[static_cast<std::size_t>(component)]; }
  int coefficients() const { return blocks_ * 64; }

 private:
  int components_ = 0, mcu_blocks_ = 0, blocks_ = 0;
  std::array<int, 3> across_{}, down_{}, first_group_{};
  std::array<std::uint8_t, kSegmentBlocksMax> component_{};
  // Beyond the last position there are as many again, all leading to the buffer's end: what is written there is lost.
  alignas(64) std::array<std::uint16_t, kSegmentCoefficientsMax + 64> places_{};
};

}  // namespace stoker
