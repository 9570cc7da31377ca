// The header of a JPEG that Stoker's own decoder takes: sizes, sampling, tables, the start of the scan. It takes
// baseline and extended sequential files with 8 bits, Huffman codes and one scan, grey or YCbCr, in the samplings that
// are in use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "stoker/base/bytes.h"
#include "stoker/tensor/image_facts.h"
#include "stoker/tensor/planes.h"

namespace stoker {

/// As a file defines it: how many codes have i + 1 bits, and what the codes stand for, the shortest first.
struct HuffmanCode {
  std::array<std::uint8_t, 16> counts{};
  std::array<std::uint8_t, 256> symbols{};

  int size() const;
  friend bool operator==(const HuffmanCode&, const HuffmanCode&) = default;
};

struct JpegComponent {
  int across = 1, down = 1;  // blocks in an MCU
  int quantization = 0;      // which of the tables
  int dc_code = 0, ac_code = 0;
};

/// A divisor for each coefficient, row by row (not in zigzag order).
using QuantizationTable = std::array<std::uint16_t, 64>;

struct JpegHeader {
  int width = 0, height = 0;
  int component_count = 0;  // 1 or 3
  std::array<JpegComponent, 3> components;
  std::array<QuantizationTable, 4> quantization{};
  std::array<HuffmanCode, 4> dc_codes, ac_codes;
  int restart_interval = 0;  // in MCUs; 0: none
  Orientation orientation = 1;
  std::size_t scan_begin = 0;  // of the entropy-coded bytes

  int across_max() const { return components[0].across; }  // the first component is the finest
  int down_max() const { return components[0].down; }
  ImageFacts facts() const;
  /// The components without samples.
  Planes plane_sizes() const;
};

/// Nothing for a file that is not for the own decoder, or in which anything is unusual enough to be doubted: libjpeg
/// has the say then, also about whether it is bad. What is returned here, libjpeg accepts too.
std::optional<JpegHeader> parse_jpeg_header(Bytes encoded);

/// The place, row by row, of the k-th coefficient in zigzag order.
extern const std::array<std::uint8_t, 64> kZigzag;

}  // namespace stoker
