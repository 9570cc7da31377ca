// Turns segments of a scan into samples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/codec/jpeg/huffman_tables.h"
#include "stoker/codec/jpeg/segment_layout.h"

namespace stoker {

/// A segment, and what must be found at its end.
struct JpegSegment {
  std::uint64_t bit = 0;  // its first
  std::uint64_t end_bit = 0;
  std::array<std::int16_t, 3> dc{}, end_dc{};  // of each component's block before, and of its last
  int column = 0, row = 0;                     // its first MCU
  int mcus = 0;
  enum class End : std::uint8_t {
    kExact,       // end_bit follows at once, and end_dc are right
    kWithinByte,  // end_bit is that of the next whole byte; end_dc mean nothing
    kBefore,      // somewhere before end_bit: the window ends before the segment does
  } end = End::kBefore;
};

/// The part of a component that is being made. Samples are written in whole blocks.
struct PlaneTarget {
  std::uint8_t* samples = nullptr;  // of the window's first MCU
  std::ptrdiff_t stride = 0;
  const std::int16_t* quantization = nullptr;  // as 16-bit numbers, row by row; 16-byte aligned
  int side = 8;                                // samples of a block: 8, or fewer if the image is decoded smaller
};

/// What all segments of an image have in common.
struct SegmentWork {
  const std::uint8_t* data = nullptr;  // kScanSlack bytes more may be read
  const JpegTables* tables = nullptr;
  const SegmentLayout* layout = nullptr;
  std::array<PlaneTarget, 3> targets;
  int first_column = 0, first_row = 0;  // the window's first MCU: nothing left of it is written
};

struct SegmentBuffers;

/// Keeps its memory between images: one per thread.
class SegmentDecoder {
 public:
  SegmentDecoder();
  ~SegmentDecoder();

  /// Decodes the segments, in any order, into the targets. False if the data or the segments are not sound; what was
  /// written then means nothing. Nothing outside the targets' blocks is ever written.
  bool decode(const SegmentWork& work, std::span<const JpegSegment> segments);

  /// The ways in which the active instruction set can do it, by name (segment_ways.h). A trial finds the fastest;
  /// tests and benchmarks select one, or by an empty name a new trial. Not to be called while decoders run.
  static std::vector<std::string> ways();
  static void select_way(std::string_view name);

 private:
  std::unique_ptr<SegmentBuffers> buffers_;
};

}  // namespace stoker
