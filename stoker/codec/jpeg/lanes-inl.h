// Decoding segments in the lanes of vector registers: a bit stream in each, two groups of lanes that hide each other's
// gathers. The registers are those of lanes_avx512-inl.h or lanes_avx2-inl.h.
//
// Each lane follows its own segment; a lane whose segment ends takes the next. Every step decodes one symbol in each
// lane of a group: a look-up for all, the value by a shift and an addition, the position as in huffman_tables.h. Two
// symbols are served by each load of 64 bits. What is decoded, value and position, is stored as one row; after as many
// rows as there are lanes a transpose turns these into a run of entries in each lane's log. When a segment ends its log
// is drained into the coefficient buffer, a few entries after every step, so that this work fills the gaps of the
// other.
#if defined(STOKER_CODEC_JPEG_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_CODEC_JPEG_LANES_INL_H_
#undef STOKER_CODEC_JPEG_LANES_INL_H_
#else
#define STOKER_CODEC_JPEG_LANES_INL_H_
#endif

#include <algorithm>
#include <iterator>

#include "stoker/codec/jpeg/segment_buffers.h"
#include "stoker/codec/jpeg/segment_output-inl.h"
#include "stoker/codec/jpeg/streams-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
#if STOKER_JPEG_LANES

template <class Vectors>
class LanesDecoder {
 public:
  LanesDecoder(SegmentBuffers& buffers, LaneBuffers<Vectors::kLanes>& lanes, const SegmentWork& work,
               std::span<const JpegSegment> segments)
      : buffers_(buffers),
        lanes_(lanes),
        vectors_(work),
        work_(work),
        segments_(segments),
        places_(work.layout->places()),
        coefficients_(reinterpret_cast<char*>(buffers.coefficients[0])),
        end_(static_cast<std::uint32_t>(work.layout->end())),
        first_table_(static_cast<std::uint32_t>(2 * work.tables->pair_of(0)) * JpegTables::kTableSize) {}

  HWY_INLINE bool run() {
    int log = 0;
    for (Group& group : lanes_.groups) {
      group.active = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        group.log_begin[lane] = lanes_.logs[log++];
        group.bit[lane] = 0;
        group.position[lane] = 1;
        group.table[lane] = group.overrun[lane] = group.limit[lane] = 0;
      }
    }
    for (; log < kLogs; ++log) free_logs_[free_count_++] = lanes_.logs[log];
    for (int lane = 0; lane < kLanes; ++lane) {
      for (Group& group : lanes_.groups) start(group, lane, 0);
    }
    if (!run_lanes()) return false;
    while (pending_count_ > 0) {
      if (!drain_first()) return false;
    }
    return run_rest();
  }

 private:
  using Registers = typename Vectors::Registers;
  using Symbols = typename Vectors::Symbols;
  static constexpr int kLanes = Vectors::kLanes, kLogs = LaneBuffers<kLanes>::kLogs;
  using Group = LaneGroup<kLanes>;
  static constexpr int kRound = kLanes;                 // symbols between transposes
  static constexpr int kDrained = kLanes + kLanes / 2;  // log entries after each step: faster than they come

  // A log whose segment has ended.
  struct Pending {
    const JpegSegment* segment;
    std::uint64_t bit;  // where it ended
    const std::uint32_t *begin, *end;
    std::uint32_t* log;
  };

  // --- lanes

  // Gives a lane the next segment, whose first symbol is that of row `row`; none: it rests.
  HWY_INLINE void start(Group& group, int lane, int row) {
    group.log[lane] = group.log_begin[lane];
    group.first_row[lane] = row;
    const unsigned mask = 1U << lane;
    if (next_ == segments_.size()) {
      group.segment[lane] = nullptr;
      group.active &= ~mask;
      group.limit[lane] = ~std::uint32_t{0};
      return;
    }
    const JpegSegment& segment = segments_[next_++];
    group.segment[lane] = &segment;
    group.bit[lane] = static_cast<std::uint32_t>(segment.bit);
    group.limit[lane] = static_cast<std::uint32_t>(segment.end_bit);
    group.position[lane] = static_cast<std::uint32_t>(work_.layout->begin(segment.mcus));
    group.table[lane] = first_table_;
    group.overrun[lane] = 0;
    group.active |= mask;
    ++live_;
  }

  // A symbol in each lane. False at a fault.
  HWY_INLINE bool step(Registers& r, Group& group, int row) {
    const Symbols symbols = vectors_.decode(r, group.rows[row]);
    if (symbols.events != 0) [[unlikely]] {
      vectors_.save(vectors_.advanced_but_events(symbols, r), group);
      if (!decode_left(group, symbols.events, row)) return false;
      r = vectors_.load(group);
      vectors_.refill(r);
      return true;
    }
    vectors_.advance(symbols, r);
    return true;
  }

  // The symbols of row `row` in these lanes: the last of a segment, or such as no table knows.
  HWY_NOINLINE bool decode_left(Group& group, unsigned events, int row) {
    for (; events != 0; events &= events - 1) {
      const int lane = __builtin_ctz(events);
      SegmentStream stream{.bits = 0,
                           .bit = group.bit[lane],
                           .position = group.position[lane],
                           .table = group.table[lane],
                           .overrun = group.overrun[lane]};
      const DecodedSymbol symbol = decode_symbol(*work_.tables, work_.data, end_, stream);
      if (!symbol.good) return false;
      group.rows[row][lane] = static_cast<std::uint32_t>(static_cast<std::uint16_t>(symbol.value)) << 16 | symbol.q;
      const std::uint32_t overrun = stream.overrun | (symbol.q ^ stream.position);
      const std::uint32_t position = symbol.q + 1;
      if (position < end_) {
        group.bit[lane] = static_cast<std::uint32_t>(stream.bit);
        group.position[lane] = position;
        group.overrun[lane] = overrun;
        group.table[lane] = buffers_.steps[symbol.q] >> 16;
        continue;
      }
      if (overrun > 63 || !put_aside(group, lane, row, stream.bit)) return false;
      --live_;
      start(group, lane, row + 1);
    }
    return true;
  }

  // Hands a lane's log, completed by what the rows have of it up to `row`, to be drained; the lane gets another.
  bool put_aside(Group& group, int lane, int row, std::uint64_t bit) {
    std::uint32_t* const log = group.log_begin[lane];
    const int first_row = group.log[lane] == log ? group.first_row[lane] : 0;
    std::uint32_t* const tail = group.log[lane];
    for (int i = first_row; i <= row; ++i) tail[i] = group.rows[i][lane];
    std::uint32_t* const end = tail + row + 1;
    std::fill_n(end, kDrained, end_);  // draining may read beyond it
    if (free_count_ == 0 && !drain_first()) return false;
    pending_[(pending_first_ + pending_count_++) % kPendingMax] = {group.segment[lane], bit,
                                                                   log + group.first_row[lane], end, log};
    if (pending_count_ == 1) take_first();
    group.log_begin[lane] = free_logs_[--free_count_];
    return true;
  }

  HWY_INLINE bool run_lanes() {
    Group &first = lanes_.groups[0], &second = lanes_.groups[1];
    Registers a = vectors_.load(first), b = vectors_.load(second);
    while (live_ >= Vectors::kLanesWorthIt) {
      for (int row = 0; row < kRound; row += 2) {
        vectors_.refill(a);
        vectors_.refill(b);
        if (!step(a, first, row) || !drain_some()) return false;
        if (!step(b, second, row) || !drain_some()) return false;
        vectors_.refill_if_needed(a);
        vectors_.refill_if_needed(b);
        if (!step(a, first, row + 1) || !drain_some()) return false;
        if (!step(b, second, row + 1) || !drain_some()) return false;
      }
      Vectors::scatter_transposed(first.rows, first.log);
      Vectors::scatter_transposed(second.rows, second.log);
      // Damaged data can lead anywhere; what is read beyond a segment's end stays within kScanSlack.
      if (vectors_.any_beyond(a, first) || vectors_.any_beyond(b, second)) return false;
    }
    vectors_.save(a, first);
    vectors_.save(b, second);
    return true;
  }

  // What the last lanes have begun, and segments that are left.
  bool run_rest() {
    BegunSegment begun[2 * kLanes];
    std::size_t count = 0;
    for (const Group& group : lanes_.groups) {
      for (int lane = 0; lane < kLanes; ++lane) {
        if (!group.segment[lane]) continue;
        const std::uint32_t* const log = group.log_begin[lane] + group.first_row[lane];
        const std::uint32_t* const end = group.log[lane];
        begun[count++] = {.segment = group.segment[lane],
                          .stream = {.bits = 0,
                                     .bit = group.bit[lane],
                                     .position = group.position[lane],
                                     .table = group.table[lane],
                                     .overrun = group.overrun[lane]},
                          .log = {log, end > log ? static_cast<std::size_t>(end - log) : 0}};
      }
    }
    return StreamsDecoder(buffers_, work_, segments_.subspan(next_), std::span(begun, count)).run();
  }

  // --- logs

  HWY_INLINE void take_first() {
    drain_at_ = pending_[pending_first_].begin;
    drain_end_ = pending_[pending_first_].end;
  }

  HWY_INLINE void drain(const std::uint32_t* from) const {
    char* const coefficients = coefficients_;  // here, for compilers fear that a store changes the member
    const std::uint16_t* const places = places_;
    HWY_UNROLL(8)
    for (int i = 0; i < kDrained; ++i) {
      const std::uint32_t item = from[i];
      const auto value = static_cast<std::int16_t>(item >> 16);
      __builtin_memcpy(coefficients + places[item & 0xFFFF], &value, sizeof(value));
    }
  }

  // Moves some entries of the oldest log; false if the segment turns out not to be sound.
  HWY_INLINE bool drain_some() {
    if (pending_count_ == 0) return true;
    drain(drain_at_);
    drain_at_ += kDrained;
    return drain_at_ < drain_end_ || finish_first();
  }

  // The oldest log to its end.
  bool drain_first() {
    for (; drain_at_ < drain_end_; drain_at_ += kDrained) drain(drain_at_);
    return finish_first();
  }

  HWY_NOINLINE bool finish_first() {
    const Pending& done = pending_[pending_first_];
    const bool sound = finish_segment(work_, *done.segment, done.bit, buffers_.coefficients[0]);
    free_logs_[free_count_++] = done.log;
    pending_first_ = (pending_first_ + 1) % kPendingMax;
    if (--pending_count_ > 0) take_first();
    return sound;
  }

  static constexpr int kPendingMax = kLogs - 2 * kLanes + 1;

  SegmentBuffers& buffers_;
  LaneBuffers<kLanes>& lanes_;
  const Vectors vectors_;
  const SegmentWork& work_;
  const std::span<const JpegSegment> segments_;
  const std::uint16_t* const places_;
  char* const coefficients_;
  const std::uint32_t end_, first_table_;
  std::size_t next_ = 0;
  int live_ = 0;  // lanes with a segment
  Pending pending_[kPendingMax];
  int pending_first_ = 0, pending_count_ = 0;
  const std::uint32_t *drain_at_ = nullptr, *drain_end_ = nullptr;
  std::uint32_t* free_logs_[kLogs];
  int free_count_ = 0;
};

template <class Vectors>
bool decode_by_lanes(SegmentBuffers& buffers, std::unique_ptr<LaneBuffers<Vectors::kLanes>>& lanes,
                     const SegmentWork& work, std::span<const JpegSegment> segments) {
  constexpr std::uint64_t kBitsMax = std::uint64_t{1} << 31;  // of gathers
  const bool far = std::any_of(segments.begin(), segments.end(),
                               [](const JpegSegment& segment) { return segment.end_bit >= kBitsMax; });
  if (std::ssize(segments) < Vectors::kSegmentsWorthIt || far) return decode_by_streams(buffers, work, segments);
  if (!lanes) lanes = std::make_unique<LaneBuffers<Vectors::kLanes>>();
  return LanesDecoder<Vectors>(buffers, *lanes, work, segments).run();
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
