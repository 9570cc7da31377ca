// The memory of a segment decoder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "stoker/codec/jpeg/segment_decoder.h"

namespace stoker {

/// Bit streams that a core without wide vectors decodes in turns, so that the others' work hides one's look-up.
constexpr int kStreams = 4;

/// Sixteen bit streams between the rounds of the decoder in lanes-inl.h.
struct LaneGroup {
  static constexpr int kLanes = 16;
  alignas(64) std::uint32_t bit[kLanes], position[kLanes], table[kLanes], overrun[kLanes];  // as in SegmentStream
  alignas(64) std::uint32_t limit[kLanes];  // bits up to which a stream may come
  alignas(64) std::uint32_t rows[16][kLanes];
  std::uint32_t* log_begin[kLanes];
  std::uint32_t* log[kLanes];  // where the next sixteen entries go
  int first_row[kLanes];       // entries of the log's first round that are not the segment's
  const JpegSegment* segment[kLanes];
  std::uint16_t active;
};

/// 1 MB, of which what common images touch fits the second-level cache.
struct LaneBuffers {
  static constexpr int kGroups = 2;
  static constexpr int kLogs = kGroups * LaneGroup::kLanes + 32;  // in use, and waiting to be drained
  static constexpr int kLogSize =
      kSegmentCoefficientsMax + 16 + 16 + 32;  // begun in a round, ended in one, and fillers
  LaneGroup groups[kGroups];
  alignas(64) std::uint32_t logs[kLogs][kLogSize];
};

struct SegmentBuffers {
  /// By position: where its coefficient goes, in bytes, and in the upper half where the table of the next one begins.
  alignas(64) std::uint32_t steps[kSegmentCoefficientsMax + 64];
  /// All zero between segments, but for what is written beyond the end.
  alignas(64) std::int16_t coefficients[kStreams][kSegmentCoefficientsMax + 64];

  std::unique_ptr<LaneBuffers> lanes;  // where they are used

  /// Makes `steps`, unless they are there.
  void prepare(const SegmentLayout& layout, const JpegTables& tables);
  void clear();

 private:
  int blocks_ = 0;
  std::uint64_t pairs_[2] = {~std::uint64_t{0}, 0};
};

/// Of the active instruction set.
using DecodeSegments = bool (*)(SegmentBuffers& buffers, const SegmentWork& work,
                                std::span<const JpegSegment> segments);

}  // namespace stoker
