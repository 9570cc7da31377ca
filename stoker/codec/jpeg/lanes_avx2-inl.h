// The registers of lanes-inl.h in AVX2: eight lanes. What lies at different places is loaded piece by piece, which is
// faster than AVX2's gathers on Zen 3.
#if defined(STOKER_CODEC_JPEG_LANES_AVX2_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_CODEC_JPEG_LANES_AVX2_INL_H_
#undef STOKER_CODEC_JPEG_LANES_AVX2_INL_H_
#else
#define STOKER_CODEC_JPEG_LANES_AVX2_INL_H_
#endif

#include "stoker/codec/jpeg/segment_buffers.h"
#include "stoker/codec/jpeg/segment_decoder.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
#if STOKER_JPEG_LANES

class Avx2Lanes {
 public:
  static constexpr int kLanes = 8;
  static constexpr int kLanesWorthIt = 8;  // with fewer at work, plain streams are as fast
  static constexpr int kSegmentsWorthIt = 16;
  using Vector = __m256i;  // 8 numbers of 32 bits
  using Group = LaneGroup<kLanes>;

  // A group's streams while they are in registers.
  struct Registers {
    Vector bit, position, table, overrun;
    Vector high, low;  // the 64 bits that were loaded, as two numbers
    Vector shift;      // of which so many are used up
    Vector active;     // all bits of a lane, or none
  };
  // What a step has decoded, and where that leads.
  struct Symbols {
    Vector length, position, table, overrun;
    unsigned events;  // lanes whose symbols are left: the last of a segment, or such as no table knows
  };

  explicit Avx2Lanes(const SegmentWork& work)
      : data_(work.data),
        entries_(reinterpret_cast<const int*>(work.tables->entries())),
        last_(static_cast<int>(work.layout->end()) - 1) {
    // Two bits for each block; a lane at rest looks tables up for blocks beyond the end, too.
    alignas(32) std::uint32_t pairs[8] = {};
    for (int block = 0; block < work.layout->blocks(); ++block) {
      const auto pair = static_cast<std::uint32_t>(work.tables->pair_of(work.layout->component_of(block)));
      pairs[block / 16] |= pair << block % 16 * 2;
    }
    pairs_ = _mm256_load_si256(reinterpret_cast<const Vector*>(pairs));
  }

  HWY_INLINE Registers load(const Group& group) const {
    Registers r;
    r.bit = at(group.bit);
    r.position = at(group.position);
    r.table = at(group.table);
    r.overrun = at(group.overrun);
    r.active = lanes_of(group.active);
    return r;
  }
  HWY_INLINE void save(const Registers& r, Group& group) const {
    store(r.bit, group.bit);
    store(r.position, group.position);
    store(r.table, group.table);
    store(r.overrun, group.overrun);
  }

  // Loads the next 64 bits of each lane.
  HWY_INLINE void refill(Registers& r) const {
    const Vector swap = _mm256_broadcastsi128_si256(_mm_set_epi32(0x08090A0B, 0x0C0D0E0F, 0x00010203, 0x04050607));
    const Indices byte(_mm256_srli_epi32(r.bit, 3));
    // Lanes 0, 1, 4, 5 and the others: as they are put together again.
    const Vector a = _mm256_shuffle_epi8(both(bits_at(byte.pair[0]), bits_at(byte.pair[2])), swap);
    const Vector b = _mm256_shuffle_epi8(both(bits_at(byte.pair[1]), bits_at(byte.pair[3])), swap);
    const __m256 x = _mm256_castsi256_ps(a), y = _mm256_castsi256_ps(b);
    r.high = _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0xDD));
    r.low = _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0x88));
    r.shift = _mm256_and_si256(r.bit, _mm256_set1_epi32(7));
  }

  // Unless there are 32 bits left in every lane that is at work, as there are except after long symbols.
  HWY_INLINE void refill_if_needed(Registers& r) const {
    const Vector few = _mm256_and_si256(_mm256_cmpgt_epi32(r.shift, _mm256_set1_epi32(31)), r.active);
    if (!_mm256_testz_si256(few, few)) [[unlikely]]
      refill(r);
  }

  // A symbol in each lane: value and position, in the upper and the lower half, go to `row`.
  HWY_INLINE Symbols decode(const Registers& r, std::uint32_t* row) const {
    const Vector window = _mm256_or_si256(_mm256_sllv_epi32(r.high, r.shift),
                                          _mm256_srlv_epi32(r.low, _mm256_sub_epi32(_mm256_set1_epi32(32), r.shift)));
    Vector entry = entries_at(_mm256_add_epi32(_mm256_srli_epi32(window, 32 - kFirstBits), r.table));
    Vector special = special_in(entry);
    if (_mm256_movemask_ps(_mm256_castsi256_ps(special)) != 0) [[unlikely]] {
      const Vector begin = _mm256_srli_epi32(entry, 16);
      const Vector index =
          _mm256_add_epi32(begin, _mm256_srli_epi32(_mm256_slli_epi32(window, kFirstBits), 32 - kSecondBits));
      // Other lanes read any entry. 0: there is no second table.
      const Vector none = _mm256_cmpeq_epi32(begin, _mm256_setzero_si256());
      const Vector second = _mm256_andnot_si256(none, special);
      entry = chosen(entry, entries_at(_mm256_and_si256(index, second)), second);
      special = special_in(entry);
    }
    const Vector length = _mm256_and_si256(entry, _mm256_set1_epi32(31));
    const Vector bits = _mm256_srlv_epi32(window, _mm256_sub_epi32(_mm256_set1_epi32(32), length));
    const Vector value = _mm256_add_epi32(_mm256_slli_epi32(bits, 16), entry);  // in the upper half
    const Vector to_end = _mm256_and_si256(_mm256_srli_epi32(entry, 10), _mm256_set1_epi32(63));
    const Vector run = _mm256_and_si256(_mm256_srli_epi32(entry, 6), _mm256_set1_epi32(15));
    const Vector q = _mm256_add_epi32(_mm256_or_si256(r.position, to_end), run);
    store(_mm256_blend_epi16(value, q, 0x55), row);
    const Vector overrun = _mm256_or_si256(r.overrun, _mm256_xor_si256(q, r.position));
    const Vector position = _mm256_sub_epi32(q, _mm256_set1_epi32(-1));
    const Vector last = _mm256_cmpgt_epi32(position, _mm256_set1_epi32(last_));
    const Vector events = _mm256_and_si256(_mm256_or_si256(last, special), r.active);
    return {length, position, tables_at(position), overrun,
            static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(events)))};
  }

  // On to the next symbols.
  HWY_INLINE void advance(const Symbols& symbols, Registers& r) const {
    r.bit = _mm256_add_epi32(r.bit, _mm256_and_si256(symbols.length, r.active));
    r.position = chosen(r.position, symbols.position, r.active);
    r.table = symbols.table;
    r.overrun = symbols.overrun;
    r.shift = _mm256_add_epi32(r.shift, symbols.length);
  }
  // The same in lanes without events, after which the 64 bits mean nothing.
  HWY_INLINE Registers advanced_but_events(const Symbols& symbols, const Registers& r) const {
    const Vector others = _mm256_andnot_si256(lanes_of(symbols.events), r.active);
    Registers moved = r;
    moved.bit = _mm256_add_epi32(r.bit, _mm256_and_si256(symbols.length, others));
    moved.position = chosen(r.position, symbols.position, others);
    moved.table = chosen(r.table, symbols.table, others);
    moved.overrun = chosen(r.overrun, symbols.overrun, others);
    return moved;
  }

  HWY_INLINE bool any_beyond(const Registers& r, const Group& group) const {
    // Both are below 2^31, but for the limit of a lane at rest.
    const Vector limit = _mm256_srli_epi32(at(group.limit), 1);
    const Vector beyond = _mm256_cmpgt_epi32(_mm256_srli_epi32(r.bit, 1), limit);
    return !_mm256_testz_si256(beyond, beyond);
  }

  // Rows to columns of 8 x 8 numbers, written to eight places.
  HWY_INLINE static void scatter_transposed(const std::uint32_t (&rows)[8][8], std::uint32_t* (&to)[8]) {
    Vector r[8], a[8];
    for (int i = 0; i < 8; ++i) r[i] = at(rows[i]);
    for (int i = 0; i < 8; i += 2) {
      a[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
      a[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
      r[i] = _mm256_unpacklo_epi64(a[i], a[i + 2]);
      r[i + 1] = _mm256_unpackhi_epi64(a[i], a[i + 2]);
      r[i + 2] = _mm256_unpacklo_epi64(a[i + 1], a[i + 3]);
      r[i + 3] = _mm256_unpackhi_epi64(a[i + 1], a[i + 3]);
    }
    for (int i = 0; i < 4; ++i) {
      store_unaligned(_mm256_permute2x128_si256(r[i], r[i + 4], 0x20), to[i]);
      store_unaligned(_mm256_permute2x128_si256(r[i], r[i + 4], 0x31), to[i + 4]);
    }
    for (int i = 0; i < 8; ++i) to[i] += 8;
  }

 private:
  static HWY_INLINE Vector at(const std::uint32_t* numbers) {
    return _mm256_load_si256(reinterpret_cast<const Vector*>(numbers));
  }
  static HWY_INLINE void store(Vector v, std::uint32_t* to) { _mm256_store_si256(reinterpret_cast<Vector*>(to), v); }
  static HWY_INLINE void store_unaligned(Vector v, std::uint32_t* to) {
    _mm256_storeu_si256(reinterpret_cast<Vector*>(to), v);
  }
  // `yes` in the lanes of `mask`, of which all bits are set.
  static HWY_INLINE Vector chosen(Vector no, Vector yes, Vector mask) { return _mm256_blendv_epi8(no, yes, mask); }
  static HWY_INLINE Vector lanes_of(unsigned bits) {
    const Vector bit = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits)), bit), bit);
  }
  // All bits of the lanes whose entry is special.
  static HWY_INLINE Vector special_in(Vector entry) {
    static_assert(kSpecialEntry == 1U << 5);
    return _mm256_srai_epi32(_mm256_slli_epi32(entry, 26), 31);
  }

  // Eight indices in plain registers, two in each.
  struct Indices {
    std::uint64_t pair[4];

    HWY_INLINE explicit Indices(Vector index) {
      const __m128i low = _mm256_castsi256_si128(index), high = _mm256_extracti128_si256(index, 1);
      pair[0] = static_cast<std::uint64_t>(_mm_cvtsi128_si64(low));
      pair[1] = static_cast<std::uint64_t>(_mm_extract_epi64(low, 1));
      pair[2] = static_cast<std::uint64_t>(_mm_cvtsi128_si64(high));
      pair[3] = static_cast<std::uint64_t>(_mm_extract_epi64(high, 1));
    }
  };
  static HWY_INLINE std::size_t first_of(std::uint64_t pair) { return pair & 0xFFFFFFFF; }
  static HWY_INLINE std::size_t second_of(std::uint64_t pair) { return pair >> 32; }
  static HWY_INLINE Vector both(__m128i low, __m128i high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  }

  // The 64 bits that begin at two bytes.
  HWY_INLINE __m128i bits_at(std::uint64_t pair) const {
    const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(data_ + first_of(pair)));
    return _mm_castps_si128(
        _mm_loadh_pi(_mm_castsi128_ps(first), reinterpret_cast<const __m64*>(data_ + second_of(pair))));
  }

  HWY_INLINE __m128i four_entries(std::uint64_t a, std::uint64_t b) const {
    return _mm_setr_epi32(entries_[first_of(a)], entries_[second_of(a)], entries_[first_of(b)], entries_[second_of(b)]);
  }
  HWY_INLINE Vector entries_at(Vector indices) const {
    const Indices index(indices);
    return both(four_entries(index.pair[0], index.pair[1]), four_entries(index.pair[2], index.pair[3]));
  }

  // Where the tables for the symbols at these positions begin.
  HWY_INLINE Vector tables_at(Vector position) const {
    const Vector word = _mm256_permutevar8x32_epi32(pairs_, _mm256_srli_epi32(position, 10));
    const Vector place = _mm256_and_si256(_mm256_srli_epi32(position, 5), _mm256_set1_epi32(30));
    const Vector pair = _mm256_and_si256(_mm256_srlv_epi32(word, place), _mm256_set1_epi32(3));
    const Vector dc = _mm256_cmpeq_epi32(_mm256_and_si256(position, _mm256_set1_epi32(63)), _mm256_setzero_si256());
    const Vector ac = _mm256_andnot_si256(dc, _mm256_set1_epi32(JpegTables::kTableSize));
    return _mm256_add_epi32(_mm256_slli_epi32(pair, kFirstBits + 1), ac);
  }

  const std::uint8_t* const data_;
  const int* const entries_;
  const int last_;
  Vector pairs_;
};

#endif
}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
