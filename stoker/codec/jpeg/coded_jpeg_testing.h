// JPEG files with any coefficients and any codes, including some that no encoder writes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stoker/base/noise_testing.h"
#include "stoker/codec/jpeg/header.h"

namespace stoker {

/// A code of `count` symbols from 0 on, all of about the same length.
HuffmanCode even_code(int count);

/// Bits of a scan, with a zero after each 0xFF.
class ScanBitWriter {
 public:
  explicit ScanBitWriter(std::vector<std::uint8_t>& out) : out_(out) {}

  /// `bits` of the value's lowest, at most 24.
  void put(std::uint32_t value, int bits);
  /// Ones up to the next whole byte.
  void fill_byte();

 private:
  std::vector<std::uint8_t>& out_;
  std::uint64_t held_ = 0;
  int held_bits_ = 0;
};

/// A file that is coded with one pair of codes.
struct CodedJpeg {
  int width = 8, height = 8;
  int components = 1, across = 1, down = 1;  // the sampling of the first of three
  QuantizationTable quantization{};          // row by row
  HuffmanCode dc_code = even_code(16), ac_code = even_code(256);
  int restart_interval = 0;
  /// In coded order, and in each zigzag order. DC values, and AC values, have at most 15 bits.
  std::vector<std::array<int, 64>> blocks{};

  /// How many blocks the file has.
  int block_count() const;
  std::vector<std::uint8_t> write() const;
};

}  // namespace stoker
