#include "stoker/codec/jpeg/segment_decoder.h"

#define STOKER_SIMD_AVX3_DL
#include "stoker/base/isa.h"
#include "stoker/base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/codec/jpeg/segment_decoder.cc"
#include <hwy/foreach_target.h>  // includes this file once per instruction set
#include <hwy/highway.h>

#include "stoker/codec/jpeg/lanes-inl.h"
#include "stoker/codec/jpeg/lanes_avx2-inl.h"
#include "stoker/codec/jpeg/lanes_avx512-inl.h"
#include "stoker/codec/jpeg/segment_ways.h"
#include "stoker/codec/jpeg/streams-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3_DL
bool decode_by_16_lanes(SegmentBuffers& buffers, const SegmentWork& work, std::span<const JpegSegment> segments) {
  return decode_by_lanes<Avx512Lanes>(buffers, buffers.lanes16, work, segments);
}
#endif
#if STOKER_JPEG_LANES
bool decode_by_8_lanes(SegmentBuffers& buffers, const SegmentWork& work, std::span<const JpegSegment> segments) {
  return decode_by_lanes<Avx2Lanes>(buffers, buffers.lanes8, work, segments);
}
#endif

SegmentWays& ways_of_target() {
  static SegmentWays ways({
#if HWY_TARGET == HWY_AVX3_DL
    {"lanes16", decode_by_16_lanes},
#endif
#if STOKER_JPEG_LANES
        {"lanes8", decode_by_8_lanes},
#endif
        {"streams", decode_by_streams},
  });
  return ways;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cstring>

namespace stoker {

HWY_EXPORT(ways_of_target);

void SegmentBuffers::prepare(const SegmentLayout& layout, const JpegTables& tables) {
  std::uint64_t pairs[2] = {0, 0};
  for (int c = 0; c < layout.components(); ++c) {
    pairs[0] = pairs[0] * 64 + static_cast<std::uint64_t>(layout.across(c) * 8 + layout.down(c));
    pairs[1] = pairs[1] * 4 + static_cast<std::uint64_t>(tables.pair_of(c));
  }
  if (blocks_ == layout.blocks() && std::equal(pairs, pairs + 2, pairs_)) return;
  blocks_ = layout.blocks();
  std::copy(pairs, pairs + 2, pairs_);
  for (int q = 0; q < layout.end() + 64; ++q) {
    const int next = std::min(q + 1, layout.end() - 1);
    const int table = 2 * tables.pair_of(layout.component_of(next / 64)) + (next % 64 == 0 ? 0 : 1);
    steps[q] = layout.places()[q] | static_cast<std::uint32_t>(table) * JpegTables::kTableSize << 16;
  }
}

void SegmentBuffers::clear() { std::memset(coefficients, 0, sizeof(coefficients)); }

SegmentDecoder::SegmentDecoder() : buffers_(std::make_unique<SegmentBuffers>()) {}
SegmentDecoder::~SegmentDecoder() = default;

bool SegmentDecoder::decode(const SegmentWork& work, std::span<const JpegSegment> segments) {
  ensure_isa();
  buffers_->prepare(*work.layout, *work.tables);
  const bool sound = HWY_DYNAMIC_DISPATCH(ways_of_target)().decode(*buffers_, work, segments);
  if (!sound) buffers_->clear();
  return sound;
}

std::vector<std::string> SegmentDecoder::ways() {
  ensure_isa();
  return HWY_DYNAMIC_DISPATCH(ways_of_target)().names();
}

void SegmentDecoder::select_way(std::string_view name) {
  ensure_isa();
  HWY_DYNAMIC_DISPATCH(ways_of_target)().select(name);
}

}  // namespace stoker
#endif
