// Decoding segments by four interleaved streams of plain integer code, the portable way. A symbol is a chain of a
// look-up, a shift and the next look-up; four chains keep a core busy where one would wait.
#if defined(STOKER_CODEC_JPEG_STREAMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_CODEC_JPEG_STREAMS_INL_H_
#undef STOKER_CODEC_JPEG_STREAMS_INL_H_
#else
#define STOKER_CODEC_JPEG_STREAMS_INL_H_
#endif

#include "stoker/codec/jpeg/segment_buffers.h"
#include "stoker/codec/jpeg/segment_output-inl.h"
#include "stoker/codec/jpeg/segment_stream.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

enum class StreamEvent { kGoesOn, kNoMoreSegments, kFault };

/// A segment that another decoder has begun. Its coefficients so far are to be had from a log: value and position, 16
/// bits each.
struct BegunSegment {
  const JpegSegment* segment = nullptr;
  SegmentStream stream;
  std::span<const std::uint32_t> log;
};

class StreamsDecoder {
 public:
  StreamsDecoder(SegmentBuffers& buffers, const SegmentWork& work, std::span<const JpegSegment> segments,
                 std::span<const BegunSegment> begun = {})
      : buffers_(buffers),
        work_(work),
        segments_(segments),
        begun_(begun),
        entries_(work.tables->entries()),
        end_(static_cast<std::uint32_t>(work.layout->end())),
        first_table_(static_cast<std::uint32_t>(2 * work.tables->pair_of(0)) * JpegTables::kTableSize) {}

  HWY_INLINE bool run() {
    SegmentStream a, b, c, d;
    const bool four = start(0, a) && start(1, b) && start(2, c) && start(3, d);
    int stopped = four ? -1 : started_;
    bool sound = true;
    while (stopped < 0) {
      for (int round = 0; round < kRoundsPerCheck && stopped < 0; ++round) {
        refill(a), refill(b), refill(c), refill(d);
        for (int symbol = 0; symbol < kSymbolsPerLoad && stopped < 0; ++symbol) {
          if (!step(a, 0)) [[unlikely]]
            sound = decode_left(0, a, stopped) && sound;
          if (!step(b, 1)) [[unlikely]]
            sound = decode_left(1, b, stopped) && sound;
          if (!step(c, 2)) [[unlikely]]
            sound = decode_left(2, c, stopped) && sound;
          if (!step(d, 3)) [[unlikely]]
            sound = decode_left(3, d, stopped) && sound;
        }
      }
      if (!sound || ran_out(0, a) || ran_out(1, b) || ran_out(2, c) || ran_out(3, d)) return false;
    }
    SegmentStream* const streams[kStreams] = {&a, &b, &c, &d};
    for (int i = 0; i < (four ? kStreams : started_); ++i) {
      if (segment_of_[i] && !run_alone(i, *streams[i])) return false;
    }
    return sound;
  }

 private:
  static constexpr int kSymbolsPerLoad = 2, kRoundsPerCheck = 64;
  // Steps go by first look-ups alone: of a code of kFirstBits - 1 and a sign at most, and the rest of 15 bits of value.
  static_assert(kSymbolsPerLoad * (kFirstBits - 1 + 15) <= 57);

  // The next segment for stream i; false if there is none.
  bool start(int i, SegmentStream& stream) {
    segment_of_[i] = nullptr;
    if (next_begun_ < begun_.size()) {
      const BegunSegment& begun = begun_[next_begun_++];
      for (const std::uint32_t item : begun.log) store(i, item & 0xFFFF, static_cast<std::int16_t>(item >> 16));
      segment_of_[i] = begun.segment;
      stream = begun.stream;
    } else if (next_ < segments_.size()) {
      const JpegSegment& segment = segments_[next_++];
      segment_of_[i] = &segment;
      stream = {.bits = 0,
                .bit = segment.bit,
                .position = static_cast<std::uint32_t>(work_.layout->begin(segment.mcus)),
                .table = first_table_,
                .overrun = 0};
    } else {
      return false;
    }
    if (started_ < kStreams) ++started_;
    refill(stream);
    return true;
  }

  HWY_INLINE void refill(SegmentStream& stream) const { stream.bits = load_bits(work_.data, stream.bit); }

  // Returns where the next symbol's table begins.
  HWY_INLINE std::uint32_t store(int i, std::uint32_t q, std::int16_t value) const {
    const std::uint32_t to = buffers_.steps[q];
    __builtin_memcpy(reinterpret_cast<char*>(buffers_.coefficients[i]) + (to & 0xFFFF), &value, sizeof(value));
    return to >> 16;
  }

  HWY_INLINE void advance(SegmentStream& stream, int i, std::uint32_t q, std::int16_t value) const {
    stream.table = store(i, q, value);
    stream.overrun |= q ^ stream.position;
    stream.position = q + 1;
  }

  // One symbol; false if the symbol is left to decode_left_symbol().
  HWY_INLINE bool step(SegmentStream& stream, int i) const {
    const HuffmanEntry entry = entries_[stream.table + (stream.bits >> (64 - kFirstBits))];
    const std::uint32_t q = (stream.position | entry_to_end(entry)) + entry_run(entry);
    if ((entry & kSpecialEntry) || q >= end_ - 1) [[unlikely]]
      return false;
    const std::int16_t value = value_of(entry, stream.bits);
    stream.bits <<= entry_length(entry);
    stream.bit += entry_length(entry);
    advance(stream, i, q, value);
    return true;
  }

  // The symbol that a step left: the last of a segment, or one that the first look-up does not know.
  HWY_NOINLINE StreamEvent decode_left_symbol(int i, SegmentStream& stream) {
    const DecodedSymbol symbol = decode_symbol(*work_.tables, work_.data, end_, stream);
    if (!symbol.good) return StreamEvent::kFault;
    advance(stream, i, symbol.q, symbol.value);
    refill(stream);
    if (symbol.q + 1 < end_) return StreamEvent::kGoesOn;
    if (stream.overrun > 63 || !finish_segment(work_, *segment_of_[i], stream.bit, buffers_.coefficients[i]))
      return StreamEvent::kFault;
    return start(i, stream) ? StreamEvent::kGoesOn : StreamEvent::kNoMoreSegments;
  }

  // Copies, so that a stream itself never leaves its registers.
  HWY_INLINE bool decode_left(int i, SegmentStream& stream, int& stopped) {
    SegmentStream copy = stream;
    const StreamEvent event = decode_left_symbol(i, copy);
    stream = copy;
    if (event != StreamEvent::kGoesOn) stopped = i;
    return event != StreamEvent::kFault;
  }

  // Damaged data can lead anywhere; what is read beyond a segment's end stays within kScanSlack.
  bool ran_out(int i, const SegmentStream& stream) const {
    return segment_of_[i] && stream.bit > segment_of_[i]->end_bit;
  }

  bool run_alone(int i, SegmentStream& stream) {
    for (;;) {
      for (int round = 0; round < kRoundsPerCheck; ++round) {
        refill(stream);
        for (int symbol = 0; symbol < kSymbolsPerLoad; ++symbol) {
          if (step(stream, i)) continue;
          const StreamEvent event = decode_left_symbol(i, stream);
          if (event != StreamEvent::kGoesOn) return event == StreamEvent::kNoMoreSegments;
        }
      }
      if (ran_out(i, stream)) return false;
    }
  }

  SegmentBuffers& buffers_;
  const SegmentWork& work_;
  const std::span<const JpegSegment> segments_;
  const std::span<const BegunSegment> begun_;
  const HuffmanEntry* const entries_;
  const std::uint32_t end_, first_table_;
  std::size_t next_ = 0, next_begun_ = 0;
  int started_ = 0;
  const JpegSegment* segment_of_[kStreams] = {};
};

bool decode_by_streams(SegmentBuffers& buffers, const SegmentWork& work, std::span<const JpegSegment> segments) {
  return StreamsDecoder(buffers, work, segments).run();
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
