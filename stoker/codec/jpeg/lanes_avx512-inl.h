// The registers of lanes-inl.h in AVX-512 with VBMI and VBMI2: sixteen lanes.
#if defined(STOKER_CODEC_JPEG_LANES_AVX512_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_CODEC_JPEG_LANES_AVX512_INL_H_
#undef STOKER_CODEC_JPEG_LANES_AVX512_INL_H_
#else
#define STOKER_CODEC_JPEG_LANES_AVX512_INL_H_
#endif

#include <algorithm>
#include <iterator>

#include "stoker/codec/jpeg/segment_buffers.h"
#include "stoker/codec/jpeg/segment_decoder.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3_DL

class Avx512Lanes {
 public:
  static constexpr int kLanes = 16;
  static constexpr int kLanesWorthIt = 11;  // with fewer at work, plain streams are as fast
  static constexpr int kSegmentsWorthIt = 24;
  using Vector = __m512i;  // 16 numbers of 32 bits
  using Group = LaneGroup<kLanes>;

  // A group's streams while they are in registers.
  struct Registers {
    Vector bit, position, table, overrun;
    Vector high, low;  // the 64 bits that were loaded, as two numbers
    Vector shift;      // of which so many are used up
    __mmask16 active;
  };
  // What a step has decoded, and where that leads.
  struct Symbols {
    Vector length, position, table, overrun;
    unsigned events;  // lanes whose symbols are left: the last of a segment, or such as no table knows
  };

  explicit Avx512Lanes(const SegmentWork& work)
      : data_(work.data),
        entries_(reinterpret_cast<const int*>(work.tables->entries())),
        end_(static_cast<std::uint32_t>(work.layout->end())) {
    alignas(64) std::uint8_t tables[64];  // of each block: the number of its AC table
    // A lane at rest still looks tables up, for blocks beyond the end too.
    std::fill(std::begin(tables), std::end(tables), std::uint8_t{1});
    for (int block = 0; block < work.layout->blocks(); ++block) {
      tables[block] = static_cast<std::uint8_t>(2 * work.tables->pair_of(work.layout->component_of(block)) + 1);
    }
    ac_tables_ = _mm512_load_si512(tables);
  }

  HWY_INLINE Registers load(const Group& group) const {
    Registers r;
    r.bit = _mm512_load_si512(group.bit);
    r.position = _mm512_load_si512(group.position);
    r.table = _mm512_load_si512(group.table);
    r.overrun = _mm512_load_si512(group.overrun);
    r.active = static_cast<__mmask16>(group.active);
    return r;
  }
  HWY_INLINE void save(const Registers& r, Group& group) const {
    _mm512_store_si512(group.bit, r.bit);
    _mm512_store_si512(group.position, r.position);
    _mm512_store_si512(group.table, r.table);
    _mm512_store_si512(group.overrun, r.overrun);
  }

  // Loads the next 64 bits of each lane.
  HWY_INLINE void refill(Registers& r) const {
    const Vector swap = _mm512_set4_epi32(0x08090A0B, 0x0C0D0E0F, 0x00010203, 0x04050607);
    const Vector odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    const Vector even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const Vector byte = _mm512_srli_epi32(r.bit, 3);
    Vector a = _mm512_i32gather_epi64(_mm512_castsi512_si256(byte), data_, 1);
    Vector b = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(byte, 1), data_, 1);
    a = _mm512_shuffle_epi8(a, swap);
    b = _mm512_shuffle_epi8(b, swap);
    r.high = _mm512_permutex2var_epi32(a, odd, b);
    r.low = _mm512_permutex2var_epi32(a, even, b);
    r.shift = _mm512_and_si512(r.bit, _mm512_set1_epi32(7));
  }

  // Unless there are 32 bits left in every lane that is at work, as there are except after long symbols.
  HWY_INLINE void refill_if_needed(Registers& r) const {
    if (_mm512_mask_cmpgt_epu32_mask(r.active, r.shift, _mm512_set1_epi32(31)) != 0) [[unlikely]]
      refill(r);
  }

  HWY_INLINE Vector entries_at(Vector index) const {
    const __m256i low = _mm256_i32gather_epi32(entries_, _mm512_castsi512_si256(index), 4);
    const __m256i high = _mm256_i32gather_epi32(entries_, _mm512_extracti64x4_epi64(index, 1), 4);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }

  // Where the tables for the symbols at these positions begin.
  HWY_INLINE Vector tables_at(Vector position) const {
    const Vector block = _mm512_srli_epi32(position, 6);
    const Vector number = _mm512_maskz_permutexvar_epi8(0x1111111111111111U, block, ac_tables_);
    const Vector begin = _mm512_slli_epi32(number, kFirstBits);
    const __mmask16 dc = _mm512_testn_epi32_mask(position, _mm512_set1_epi32(63));
    return _mm512_mask_sub_epi32(begin, dc, begin, _mm512_set1_epi32(JpegTables::kTableSize));
  }

  // A symbol in each lane: value and position, in the upper and the lower half, go to `row`.
  HWY_INLINE Symbols decode(const Registers& r, std::uint32_t* row) const {
    const Vector window = _mm512_shldv_epi32(r.high, r.low, r.shift);
    Vector entry = entries_at(_mm512_add_epi32(_mm512_srli_epi32(window, 32 - kFirstBits), r.table));
    const Vector special_bit = _mm512_set1_epi32(static_cast<int>(kSpecialEntry));
    __mmask16 special = _mm512_test_epi32_mask(entry, special_bit);
    if (special != 0) [[unlikely]] {
      const Vector begin = _mm512_srli_epi32(entry, 16);
      const Vector index =
          _mm512_add_epi32(begin, _mm512_srli_epi32(_mm512_slli_epi32(window, kFirstBits), 32 - kSecondBits));
      special = _mm512_mask_test_epi32_mask(special, begin, begin);  // 0: there is no second table
      entry = _mm512_mask_i32gather_epi32(entry, special, index, entries_, 4);
      special = _mm512_test_epi32_mask(entry, special_bit);
    }
    const Vector length = _mm512_and_si512(entry, _mm512_set1_epi32(31));
    const Vector bits = _mm512_srlv_epi32(window, _mm512_sub_epi32(_mm512_set1_epi32(32), length));
    const Vector value = _mm512_add_epi32(_mm512_slli_epi32(bits, 16), entry);  // in the upper half
    const Vector jumped = _mm512_ternarylogic_epi32(r.position, _mm512_srli_epi32(entry, 10), _mm512_set1_epi32(63),
                                                    0xF8);  // position | (to_end & 63)
    const Vector run = _mm512_and_si512(_mm512_srli_epi32(entry, 6), _mm512_set1_epi32(15));
    const Vector q = _mm512_add_epi32(jumped, run);
    _mm512_store_si512(row, _mm512_mask_mov_epi16(value, 0x55555555U, q));
    const Vector overrun = _mm512_ternarylogic_epi32(r.overrun, q, r.position, 0xF6);  // overrun | (q ^ position)
    const Vector position = _mm512_add_epi32(q, _mm512_set1_epi32(1));
    const Vector table = tables_at(position);
    const __mmask16 last = _mm512_cmpge_epu32_mask(q, _mm512_set1_epi32(static_cast<int>(end_ - 1)));
    return {length, position, table, overrun, static_cast<unsigned>((last | special) & r.active)};
  }

  // On to the next symbols.
  HWY_INLINE void advance(const Symbols& symbols, Registers& r) const {
    r.bit = _mm512_mask_add_epi32(r.bit, r.active, r.bit, symbols.length);
    r.position = _mm512_mask_mov_epi32(r.position, r.active, symbols.position);
    r.table = symbols.table;
    r.overrun = symbols.overrun;
    r.shift = _mm512_add_epi32(r.shift, symbols.length);
  }
  // The same in lanes without events, after which the 64 bits mean nothing.
  HWY_INLINE Registers advanced_but_events(const Symbols& symbols, const Registers& r) const {
    const auto others = static_cast<__mmask16>(r.active & ~symbols.events);
    Registers moved = r;
    moved.bit = _mm512_mask_add_epi32(r.bit, others, r.bit, symbols.length);
    moved.position = _mm512_mask_mov_epi32(r.position, others, symbols.position);
    moved.table = _mm512_mask_mov_epi32(r.table, others, symbols.table);
    moved.overrun = _mm512_mask_mov_epi32(r.overrun, others, symbols.overrun);
    return moved;
  }

  HWY_INLINE bool any_beyond(const Registers& r, const Group& group) const {
    return _mm512_cmpgt_epu32_mask(r.bit, _mm512_load_si512(group.limit)) != 0;
  }

  // Rows to columns of 16 x 16 numbers, written to sixteen places.
  HWY_INLINE static void scatter_transposed(const std::uint32_t (&rows)[16][16], std::uint32_t* (&to)[16]) {
    Vector r[16], a[16];
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

 private:
  const std::uint8_t* const data_;
  const int* const entries_;
  const std::uint32_t end_;
  Vector ac_tables_;
};

#endif
}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
