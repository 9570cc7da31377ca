// The memory of a segment decoder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "stoker/codec/jpeg/segment_decoder.h"

namespace stoker {

/// Bit streams that a core without wide vectors decodes in turns, so that the others' work hides one's look-up.
constexpr int kStreams = 4;

/// In code for one of Highway's targets: whether it decodes in lanes.
#define STOKER_JPEG_LANES (HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2)

/// Bit streams between the rounds of the decoder in lanes-inl.h.
template <int kLanes>
struct LaneGroup {
  alignas(64) std::uint32_t bit[kLanes], position[kLanes], table[kLanes], overrun[kLanes];  // as in SegmentStream
  alignas(64) std::uint32_t limit[kLanes];  // bits up to which a stream may come
  alignas(64) std::uint32_t rows[kLanes][kLanes];
  std::uint32_t* log_begin[kLanes];
  std::uint32_t* log[kLanes];  // where the next entries go, as many as there are lanes
  int first_row[kLanes];       // entries of the log's first round that are not the segment's
  const JpegSegment* segment[kLanes];
  unsigned active;  // a bit for each lane
};

/// Up to 1 MB, of which what common images touch fits the second-level cache.
template <int kLanes>
struct LaneBuffers {
  static constexpr int kGroups = 2;
  static constexpr int kLogs = kGroups * kLanes + 2 * kLanes;            // in use, and waiting to be drained
  static constexpr int kLogSize = kSegmentCoefficientsMax + 4 * kLanes;  // begun in a round, ended in one, and fillers
  LaneGroup<kLanes> groups[kGroups];
  alignas(64) std::uint32_t logs[kLogs][kLogSize];
};

struct SegmentBuffers {
  /// By position: where its coefficient goes, in bytes, and in the upper half where the table of the next one begins.
  alignas(64) std::uint32_t steps[kSegmentCoefficientsMax + 64];
  /// All zero between segments, but for what is written beyond the end.
  alignas(64) std::int16_t coefficients[kStreams][kSegmentCoefficientsMax + 64];

  // Where they are used.
  std::unique_ptr<LaneBuffers<8>> lanes8;
  std::unique_ptr<LaneBuffers<16>> lanes16;

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
