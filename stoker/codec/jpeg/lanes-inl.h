// Decoding segments in the lanes of AVX-512 registers: 32 bit streams at once, two groups of 16 that hide each other's
// gathers. Needs VBMI and VBMI2.
//
// Each lane follows its own segment; a lane whose segment ends takes the next. Every step decodes one symbol in each
// lane of a group: a look-up for all, the value by a shift and an addition, the position as in huffman_tables.h. Two
// symbols are served by each load of 64 bits. What is decoded, value and position, is stored as one row for 16 lanes;
// after 16 rows a transpose turns these into a run of 16 entries in each lane's log. When a segment ends its log is
// drained into the coefficient buffer, a few entries after every step, so that this work fills the gaps of the other.
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
#if HWY_TARGET == HWY_AVX3_DL

using Lanes = __m512i;  // 16 numbers of 32 bits

// A group's streams while they are in registers.
struct LaneRegisters {
  Lanes bit, position, table, overrun;
  Lanes high, low;  // the 64 bits that were loaded, as two numbers
  Lanes shift;      // of which so many are used up
  __mmask16 active;
};

// Rows to columns of 16 x 16 numbers, written to sixteen places.
HWY_INLINE void scatter_transposed(const std::uint32_t (&rows)[16][16], std::uint32_t* (&to)[16]) {
  Lanes r[16], a[16];
  for (int i = 0; i < 16; ++i) r[i] = _mm512_load_si512(rows[i]);
  for (int i = 0; i < 16; i += 2) {
    a[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    a[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(a[i], a[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(a[i], a[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(a[i + 1], a[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(a[i + 1], a[i + 3]);
  }
  for (int half = 0; half < 16; half += 8) {
    for (int i = 0; i < 4; ++i) {
      a[half + i] = _mm512_shuffle_i32x4(r[half + i], r[half + i + 4], 0x88);
      a[half + i + 4] = _mm512_shuffle_i32x4(r[half + i], r[half + i + 4], 0xDD);
    }
  }
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm512_shuffle_i32x4(a[i], a[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(a[i], a[i + 8], 0xDD);
  }
  for (int i = 0; i < 16; ++i) {
    _mm512_storeu_si512(to[i], r[i]);
    to[i] += 16;
  }
}

class LanesDecoder {
 public:
  LanesDecoder(SegmentBuffers& buffers, const SegmentWork& work, std::span<const JpegSegment> segments)
      : buffers_(buffers),
        lanes_(*buffers.lanes),
        work_(work),
        segments_(segments),
        entries_(reinterpret_cast<const int*>(work.tables->entries())),
        places_(work.layout->places()),
        coefficients_(reinterpret_cast<char*>(buffers.coefficients[0])),
        end_(static_cast<std::uint32_t>(work.layout->end())),
        first_table_(static_cast<std::uint32_t>(2 * work.tables->pair_of(0)) * JpegTables::kTableSize) {}

  HWY_INLINE bool run() {
    alignas(64) std::uint8_t tables[64];  // of each block: the number of its AC table
    // A lane at rest still looks tables up, for blocks beyond the end too.
    std::fill(std::begin(tables), std::end(tables), std::uint8_t{1});
    for (int block = 0; block < work_.layout->blocks(); ++block) {
      tables[block] = static_cast<std::uint8_t>(2 * work_.tables->pair_of(work_.layout->component_of(block)) + 1);
    }
    ac_tables_ = _mm512_load_si512(tables);
    int log = 0;
    for (LaneGroup& group : lanes_.groups) {
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
      for (LaneGroup& group : lanes_.groups) start(group, lane, 0);
    }
    if (!run_lanes()) return false;
    while (pending_count_ > 0) {
      if (!drain_first()) return false;
    }
    return run_rest();
  }

 private:
  static constexpr int kLanes = LaneGroup::kLanes, kLogs = LaneBuffers::kLogs;
  static constexpr int kRound = 16;         // symbols between transposes
  static constexpr int kDrained = 24;       // log entries after each step of 16 symbols: faster than they come
  static constexpr int kLanesWorthIt = 11;  // with fewer at work, plain streams are as fast

  // A log whose segment has ended.
  struct Pending {
    const JpegSegment* segment;
    std::uint64_t bit;  // where it ended
    const std::uint32_t *begin, *end;
    std::uint32_t* log;
  };

  // --- lanes

  // Gives a lane the next segment, whose first symbol is that of row `row`; none: it rests.
  HWY_INLINE void start(LaneGroup& group, int lane, int row) {
    group.log[lane] = group.log_begin[lane];
    group.first_row[lane] = row;
    const auto mask = static_cast<__mmask16>(1U << lane);
    if (next_ == segments_.size()) {
      group.segment[lane] = nullptr;
      group.active = static_cast<__mmask16>(group.active & ~mask);
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
    group.active = static_cast<__mmask16>(group.active | mask);
    ++live_;
  }

  HWY_INLINE LaneRegisters load(const LaneGroup& group) const {
    LaneRegisters r;
    r.bit = _mm512_load_si512(group.bit);
    r.position = _mm512_load_si512(group.position);
    r.table = _mm512_load_si512(group.table);
    r.overrun = _mm512_load_si512(group.overrun);
    r.active = group.active;
    return r;
  }
  HWY_INLINE void save(const LaneRegisters& r, LaneGroup& group) const {
    _mm512_store_si512(group.bit, r.bit);
    _mm512_store_si512(group.position, r.position);
    _mm512_store_si512(group.table, r.table);
    _mm512_store_si512(group.overrun, r.overrun);
  }

  // Loads the next 64 bits of each lane.
  HWY_INLINE void refill(LaneRegisters& r) const {
    const Lanes swap = _mm512_set4_epi32(0x08090A0B, 0x0C0D0E0F, 0x00010203, 0x04050607);
    const Lanes odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    const Lanes even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const Lanes byte = _mm512_srli_epi32(r.bit, 3);
    Lanes a = _mm512_i32gather_epi64(_mm512_castsi512_si256(byte), work_.data, 1);
    Lanes b = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(byte, 1), work_.data, 1);
    a = _mm512_shuffle_epi8(a, swap);
    b = _mm512_shuffle_epi8(b, swap);
    r.high = _mm512_permutex2var_epi32(a, odd, b);
    r.low = _mm512_permutex2var_epi32(a, even, b);
    r.shift = _mm512_and_si512(r.bit, _mm512_set1_epi32(7));
  }

  // Unless there are 32 bits left in every lane that is at work, as there are except after long symbols.
  HWY_INLINE void refill_if_needed(LaneRegisters& r) const {
    if (_mm512_mask_cmpgt_epu32_mask(r.active, r.shift, _mm512_set1_epi32(31)) != 0) [[unlikely]]
      refill(r);
  }

  HWY_INLINE Lanes entries_at(Lanes index) const {
    const __m256i low = _mm256_i32gather_epi32(entries_, _mm512_castsi512_si256(index), 4);
    const __m256i high = _mm256_i32gather_epi32(entries_, _mm512_extracti64x4_epi64(index, 1), 4);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }

  // Where the tables for the symbols at these positions begin.
  HWY_INLINE Lanes tables_at(Lanes position) const {
    const Lanes block = _mm512_srli_epi32(position, 6);
    const Lanes number = _mm512_maskz_permutexvar_epi8(0x1111111111111111U, block, ac_tables_);
    const Lanes begin = _mm512_slli_epi32(number, kFirstBits);
    const __mmask16 dc = _mm512_testn_epi32_mask(position, _mm512_set1_epi32(63));
    return _mm512_mask_sub_epi32(begin, dc, begin, _mm512_set1_epi32(JpegTables::kTableSize));
  }

  // A symbol in each lane. False at a fault.
  HWY_INLINE bool step(LaneRegisters& r, LaneGroup& group, int row) {
    const Lanes window = _mm512_shldv_epi32(r.high, r.low, r.shift);
    Lanes entry = entries_at(_mm512_add_epi32(_mm512_srli_epi32(window, 32 - kFirstBits), r.table));
    const Lanes special_bit = _mm512_set1_epi32(static_cast<int>(kSpecialEntry));
    __mmask16 special = _mm512_test_epi32_mask(entry, special_bit);
    if (special != 0) [[unlikely]] {
      const Lanes begin = _mm512_srli_epi32(entry, 16);
      const Lanes index =
          _mm512_add_epi32(begin, _mm512_srli_epi32(_mm512_slli_epi32(window, kFirstBits), 32 - kSecondBits));
      special = _mm512_mask_test_epi32_mask(special, begin, begin);  // 0: there is no second table
      entry = _mm512_mask_i32gather_epi32(entry, special, index, entries_, 4);
      special = _mm512_test_epi32_mask(entry, special_bit);
    }
    const Lanes length = _mm512_and_si512(entry, _mm512_set1_epi32(31));
    const Lanes bits = _mm512_srlv_epi32(window, _mm512_sub_epi32(_mm512_set1_epi32(32), length));
    const Lanes value = _mm512_add_epi32(_mm512_slli_epi32(bits, 16), entry);  // in the upper half
    const Lanes jumped = _mm512_ternarylogic_epi32(r.position, _mm512_srli_epi32(entry, 10), _mm512_set1_epi32(63),
                                                   0xF8);  // position | (to_end & 63)
    const Lanes run = _mm512_and_si512(_mm512_srli_epi32(entry, 6), _mm512_set1_epi32(15));
    const Lanes q = _mm512_add_epi32(jumped, run);
    _mm512_store_si512(group.rows[row], _mm512_mask_mov_epi16(value, 0x55555555U, q));
    const Lanes overrun = _mm512_ternarylogic_epi32(r.overrun, q, r.position, 0xF6);  // overrun | (q ^ position)
    const Lanes position = _mm512_add_epi32(q, _mm512_set1_epi32(1));
    const Lanes table = tables_at(position);
    const __mmask16 last = _mm512_cmpge_epu32_mask(q, _mm512_set1_epi32(static_cast<int>(end_ - 1)));
    const auto events = static_cast<__mmask16>((last | special) & r.active);
    if (events != 0) [[unlikely]] {
      const auto others = static_cast<__mmask16>(r.active & ~events);
      LaneRegisters moved = r;
      moved.bit = _mm512_mask_add_epi32(r.bit, others, r.bit, length);
      moved.position = _mm512_mask_mov_epi32(r.position, others, position);
      moved.table = _mm512_mask_mov_epi32(r.table, others, table);
      moved.overrun = _mm512_mask_mov_epi32(r.overrun, others, overrun);
      save(moved, group);
      if (!decode_left(group, events, row)) return false;
      r = load(group);
      refill(r);
      return true;
    }
    r.bit = _mm512_mask_add_epi32(r.bit, r.active, r.bit, length);
    r.position = _mm512_mask_mov_epi32(r.position, r.active, position);
    r.table = table;
    r.overrun = overrun;
    r.shift = _mm512_add_epi32(r.shift, length);
    return true;
  }

  // The symbols of row `row` in these lanes: the last of a segment, or such as no table knows.
  HWY_NOINLINE bool decode_left(LaneGroup& group, unsigned events, int row) {
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
  bool put_aside(LaneGroup& group, int lane, int row, std::uint64_t bit) {
    std::uint32_t* const log = group.log_begin[lane];
    const int first_row = group.log[lane] == log ? group.first_row[lane] : 0;
    std::uint32_t* const tail = group.log[lane];
    for (int i = first_row; i <= row; ++i) tail[i] = group.rows[i][lane];
    std::uint32_t* const end = tail + row + 1;
    for (int i = 0; i < 2 * kLanes; i += kLanes) {  // draining may read beyond it
      _mm512_storeu_si512(end + i, _mm512_set1_epi32(static_cast<int>(end_)));
    }
    if (free_count_ == 0 && !drain_first()) return false;
    pending_[(pending_first_ + pending_count_++) % kPendingMax] = {group.segment[lane], bit,
                                                                   log + group.first_row[lane], end, log};
    if (pending_count_ == 1) take_first();
    group.log_begin[lane] = free_logs_[--free_count_];
    return true;
  }

  HWY_INLINE bool run_lanes() {
    LaneGroup &first = lanes_.groups[0], &second = lanes_.groups[1];
    LaneRegisters a = load(first), b = load(second);
    while (live_ >= kLanesWorthIt) {
      for (int row = 0; row < kRound; row += 2) {
        refill(a);
        refill(b);
        if (!step(a, first, row) || !drain_some()) return false;
        if (!step(b, second, row) || !drain_some()) return false;
        refill_if_needed(a);
        refill_if_needed(b);
        if (!step(a, first, row + 1) || !drain_some()) return false;
        if (!step(b, second, row + 1) || !drain_some()) return false;
      }
      scatter_transposed(first.rows, first.log);
      scatter_transposed(second.rows, second.log);
      // Damaged data can lead anywhere; what is read beyond a segment's end stays within kScanSlack.
      if (_mm512_cmpgt_epu32_mask(a.bit, _mm512_load_si512(first.limit)) != 0 ||
          _mm512_cmpgt_epu32_mask(b.bit, _mm512_load_si512(second.limit)) != 0) {
        return false;
      }
    }
    save(a, first);
    save(b, second);
    return true;
  }

  // What the last lanes have begun, and segments that are left.
  bool run_rest() {
    BegunSegment begun[2 * kLanes];
    std::size_t count = 0;
    for (const LaneGroup& group : lanes_.groups) {
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
  LaneBuffers& lanes_;
  const SegmentWork& work_;
  const std::span<const JpegSegment> segments_;
  const int* const entries_;
  const std::uint16_t* const places_;
  char* const coefficients_;
  const std::uint32_t end_, first_table_;
  Lanes ac_tables_;
  std::size_t next_ = 0;
  int live_ = 0;  // lanes with a segment
  Pending pending_[kPendingMax];
  int pending_first_ = 0, pending_count_ = 0;
  const std::uint32_t *drain_at_ = nullptr, *drain_end_ = nullptr;
  std::uint32_t* free_logs_[kLogs];
  int free_count_ = 0;
};

bool decode_by_lanes(SegmentBuffers& buffers, const SegmentWork& work, std::span<const JpegSegment> segments) {
  constexpr std::size_t kSegmentsWorthIt = 24;
  constexpr std::uint64_t kBitsMax = std::uint64_t{1} << 31;  // of gathers
  const bool far = std::any_of(segments.begin(), segments.end(),
                               [](const JpegSegment& segment) { return segment.end_bit >= kBitsMax; });
  if (segments.size() < kSegmentsWorthIt || far) return decode_by_streams(buffers, work, segments);
  if (!buffers.lanes) buffers.lanes = std::make_unique<LaneBuffers>();
  return LanesDecoder(buffers, work, segments).run();
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
