// libjpeg's accurate integer inverse DCT ("islow"), bit for bit, of four neighbouring blocks: the 16-bit arithmetic of
// its SIMD versions, also where damaged data make that overflow. And its reduced forms, which make 4 x 4, 2 x 2 or 1
// sample of a block.
//
// A vector holds one row of as many blocks as it has 128-bit lanes. The columns' pass works on rows as they are; the
// rows' pass on their transpose.
#if defined(STOKER_CODEC_JPEG_INVERSE_TRANSFORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_CODEC_JPEG_INVERSE_TRANSFORM_INL_H_
#undef STOKER_CODEC_JPEG_INVERSE_TRANSFORM_INL_H_
#else
#define STOKER_CODEC_JPEG_INVERSE_TRANSFORM_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stoker/base/simd_words-inl.h"
#include "stoker/codec/jpeg/inverse_transform.h"
#include "stoker/codec/jpeg/segment_layout.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_EMU128

HWY_NOINLINE void transform_group(std::int16_t* group, const std::int16_t* quantization, int side, std::uint8_t* out,
                                  std::ptrdiff_t stride) {
  constexpr int kRow = 8 * kGroupBlocks;
  for (int block = 0; block < kGroupBlocks; ++block) {
    const std::int16_t* const coefficients = group + 8 * block;
    if (side == 8) {
      InverseTransform::block(coefficients, kRow, quantization, out + 8 * block, stride);
    } else {
      InverseTransform::reduced_block(coefficients, kRow, quantization, side, out + side * block, stride);
    }
  }
  std::memset(group, 0, kGroupCoefficients * sizeof(*group));
}

#else

using CoefficientTag = hn::CappedTag<std::int16_t, 8 * kGroupBlocks>;
using Coefficients = hn::Vec<CoefficientTag>;
using SumTag = hn::RepartitionToWide<CoefficientTag>;
using Sums = hn::Vec<SumTag>;

constexpr int kConstantBits = 13, kFirstPassBits = 2;  // fractional bits of constants, and of what passes hand on

// The rotations' constants, times 2^13.
constexpr int kC0298 = 2446, kC0390 = 3196, kC0541 = 4433, kC0765 = 6270, kC0899 = 7373, kC1175 = 9633, kC1501 = 12299,
              kC1847 = 15137, kC1961 = 16069, kC2053 = 16819, kC2562 = 20995, kC3072 = 25172;

// Lanes of both halves of two interleaved rows.
struct WideSums {
  Sums low, high;

  friend HWY_INLINE WideSums operator+(WideSums a, WideSums b) {
    return {hn::Add(a.low, b.low), hn::Add(a.high, b.high)};
  }
  friend HWY_INLINE WideSums operator-(WideSums a, WideSums b) {
    return {hn::Sub(a.low, b.low), hn::Sub(a.high, b.high)};
  }
};

struct InterleavedRows {
  Coefficients low, high;

  HWY_INLINE InterleavedRows(Coefficients a, Coefficients b)
      : low(hn::InterleaveLower(CoefficientTag(), a, b)), high(hn::InterleaveUpper(CoefficientTag(), a, b)) {}

  // a * first + b * second
  HWY_INLINE WideSums rotated(int first, int second) const {
    const auto pair = static_cast<std::int32_t>(static_cast<std::uint32_t>(second) << 16 | (first & 0xFFFF));
    const auto factors = hn::BitCast(CoefficientTag(), hn::Set(SumTag(), pair));
    return {dot_pairs(low, factors), dot_pairs(high, factors)};
  }
};

// A row times 2^13, and half of what is shifted out last, so that the shift rounds.
template <int kShift>
HWY_INLINE WideSums scaled_and_rounding(Coefficients row) {
  constexpr int kHalf = 1 << (kShift - 1), kFactor = 1 << (kShift / 2);  // which 16 bits hold
  return InterleavedRows(row, hn::Set(CoefficientTag(), kHalf / kFactor)).rotated(1 << kConstantBits, kFactor);
}

// Both halves of a row: the first pass clamps and keeps the order. After the second one's shift of more than 16 bits
// nothing is left to clamp: the upper halves of all sums are laid beside each other, kRowOrder says how.
template <int kShift>
HWY_INLINE Coefficients descaled(WideSums sums) {
  if constexpr (kShift < 16) return pack_words(hn::ShiftRight<kShift>(sums.low), hn::ShiftRight<kShift>(sums.high));
  const CoefficientTag d16;
  const auto low = hn::BitCast(d16, hn::ShiftRight<16>(sums.low)), high = hn::BitCast(d16, sums.high);
  return hn::ShiftRight<(kShift > 16 ? kShift - 16 : 0)>(hn::OddEven(high, low));
}
constexpr int kRowOrder[8] = {0, 4, 1, 5, 2, 6, 3, 7};

// One pass over eight rows, in place.
template <int kShift>
HWY_INLINE void transform_rows(Coefficients (&v)[8]) {
  const InterleavedRows even(v[2], v[6]);
  const WideSums even3 = even.rotated(kC0541 + kC0765, kC0541), even2 = even.rotated(kC0541, kC0541 - kC1847);
  const WideSums even0 = scaled_and_rounding<kShift>(hn::Add(v[0], v[4]));
  const WideSums even1 = scaled_and_rounding<kShift>(hn::Sub(v[0], v[4]));
  const WideSums e0 = even0 + even3, e3 = even0 - even3, e1 = even1 + even2, e2 = even1 - even2;

  const InterleavedRows odd(hn::Add(v[7], v[3]), hn::Add(v[5], v[1]));
  const WideSums z3 = odd.rotated(kC1175 - kC1961, kC1175), z4 = odd.rotated(kC1175, kC1175 - kC0390);
  const InterleavedRows odd71(v[7], v[1]), odd53(v[5], v[3]);
  const WideSums o0 = odd71.rotated(kC0298 - kC0899, -kC0899) + z3;
  const WideSums o3 = odd71.rotated(-kC0899, kC1501 - kC0899) + z4;
  const WideSums o1 = odd53.rotated(kC2053 - kC2562, -kC2562) + z4;
  const WideSums o2 = odd53.rotated(-kC2562, kC3072 - kC2562) + z3;

  v[0] = descaled<kShift>(e0 + o3);
  v[7] = descaled<kShift>(e0 - o3);
  v[1] = descaled<kShift>(e1 + o2);
  v[6] = descaled<kShift>(e1 - o2);
  v[2] = descaled<kShift>(e2 + o1);
  v[5] = descaled<kShift>(e2 - o1);
  v[3] = descaled<kShift>(e3 + o0);
  v[4] = descaled<kShift>(e3 - o0);
}

// Rows to columns, block by block.
HWY_INLINE void transpose(Coefficients (&v)[8]) {
  const CoefficientTag d16;
  const SumTag d32;
  const hn::RepartitionToWide<SumTag> d64;
  const auto low16 = [&](int a, int b) HWY_ATTR { return hn::BitCast(d32, hn::InterleaveLower(d16, v[a], v[b])); };
  const auto high16 = [&](int a, int b) HWY_ATTR { return hn::BitCast(d32, hn::InterleaveUpper(d16, v[a], v[b])); };
  const auto a0 = low16(0, 1), a1 = high16(0, 1), a2 = low16(2, 3), a3 = high16(2, 3);
  const auto a4 = low16(4, 5), a5 = high16(4, 5), a6 = low16(6, 7), a7 = high16(6, 7);
  const auto low32 = [&](Sums a, Sums b) HWY_ATTR { return hn::BitCast(d64, hn::InterleaveLower(d32, a, b)); };
  const auto high32 = [&](Sums a, Sums b) HWY_ATTR { return hn::BitCast(d64, hn::InterleaveUpper(d32, a, b)); };
  const auto b0 = low32(a0, a2), b1 = high32(a0, a2), b2 = low32(a1, a3), b3 = high32(a1, a3);
  const auto b4 = low32(a4, a6), b5 = high32(a4, a6), b6 = low32(a5, a7), b7 = high32(a5, a7);
  v[0] = hn::BitCast(d16, hn::InterleaveLower(d64, b0, b4));
  v[1] = hn::BitCast(d16, hn::InterleaveUpper(d64, b0, b4));
  v[2] = hn::BitCast(d16, hn::InterleaveLower(d64, b1, b5));
  v[3] = hn::BitCast(d16, hn::InterleaveUpper(d64, b1, b5));
  v[4] = hn::BitCast(d16, hn::InterleaveLower(d64, b2, b6));
  v[5] = hn::BitCast(d16, hn::InterleaveUpper(d64, b2, b6));
  v[6] = hn::BitCast(d16, hn::InterleaveLower(d64, b3, b7));
  v[7] = hn::BitCast(d16, hn::InterleaveUpper(d64, b3, b7));
}

// libjpeg passes over a block's columns by a shortcut if only the first row has anything. That differs where its shift
// overflows, which no image of an encoder comes near: here every block is put right, one by one. `below`: all bits of
// the other rows, before they were multiplied, for a product may vanish in 16 bits.
HWY_NOINLINE void first_pass_with_overflow(Coefficients (&v)[8], Coefficients below) {
  const CoefficientTag d16;
  constexpr std::size_t kLanes = hn::MaxLanes(CoefficientTag());
  alignas(64) std::int16_t first_row[kLanes], others[kLanes], after[8][kLanes];
  hn::Store(v[0], d16, first_row);
  hn::Store(below, d16, others);
  transform_rows<kConstantBits - kFirstPassBits>(v);
  for (int row = 0; row < 8; ++row) hn::Store(v[row], d16, after[row]);
  for (std::size_t block = 0; block < kLanes; block += 8) {
    bool first_row_only = true;
    for (std::size_t i = 0; i < 8; ++i) first_row_only = first_row_only && others[block + i] == 0;
    if (!first_row_only) continue;
    for (int row = 0; row < 8; ++row) {
      for (std::size_t i = 0; i < 8; ++i) {
        const auto bits = static_cast<std::uint16_t>(first_row[block + i]);
        after[row][block + i] = static_cast<std::int16_t>(static_cast<std::uint16_t>(bits << kFirstPassBits));
      }
    }
  }
  for (int row = 0; row < 8; ++row) v[row] = hn::Load(d16, after[row]);
}

// The first row of coefficients as samples if every block has nothing else than its first: each block of one colour.
HWY_INLINE hn::Vec<hn::RepartitionToNarrow<CoefficientTag>> flat_samples(Coefficients dc) {
  const CoefficientTag d16;
  const hn::RepartitionToNarrow<CoefficientTag> d8;
  const auto rounded = hn::ShiftRight<3>(hn::Add(dc, hn::Set(d16, 4)));
  const auto packed = pack_bytes_signed(rounded, rounded);
  alignas(64) static constexpr std::uint8_t kFirstByte[16] = {};
  return hn::TableLookupBytes(packed,
                              hn::BitCast(d8, hn::LoadDup128(hn::RebindToUnsigned<decltype(d8)>(), kFirstByte)));
}

// Writes rows 2 i and 2 i + 1 of the blocks of a vector, whose halves of 128 bits have one and then the other.
HWY_INLINE void store_two_rows(hn::Vec<hn::RepartitionToNarrow<CoefficientTag>> rows, std::uint8_t* first,
                               std::uint8_t* second) {
  const hn::RepartitionToNarrow<CoefficientTag> d8;
  const hn::RebindToUnsigned<decltype(d8)> du8;
  const auto samples = hn::Xor(hn::BitCast(du8, rows), hn::Set(du8, 0x80));
  constexpr std::size_t kBlocks = hn::MaxLanes(CoefficientTag()) / 8;
  const hn::Repartition<std::uint64_t, decltype(du8)> d64;
  alignas(64) static constexpr std::uint64_t kOrder[8] = {0, 2, 4, 6, 1, 3, 5, 7};
  alignas(64) static constexpr std::uint64_t kOrderOfTwo[4] = {0, 2, 1, 3};
  if constexpr (kBlocks == 1) {
    const hn::Half<decltype(du8)> half;
    hn::StoreU(hn::LowerHalf(half, samples), half, first);
    hn::StoreU(hn::UpperHalf(half, samples), half, second);
  } else {
    const auto order = hn::SetTableIndices(d64, kBlocks == 4 ? kOrder : kOrderOfTwo);
    const auto sorted = hn::BitCast(du8, hn::TableLookupLanes(hn::BitCast(d64, samples), order));
    const hn::Half<decltype(du8)> half;
    hn::StoreU(hn::LowerHalf(half, sorted), half, first);
    hn::StoreU(hn::UpperHalf(half, sorted), half, second);
  }
}

// `coefficients`: the part of a group that a vector spans; zeros are left in it. Writes 8 rows of 8 samples a block.
HWY_INLINE void transform_blocks(std::int16_t* HWY_RESTRICT coefficients, const std::int16_t* HWY_RESTRICT quantization,
                                 std::uint8_t* HWY_RESTRICT out, std::ptrdiff_t stride) {
  constexpr int kRow = 8 * kGroupBlocks;
  const CoefficientTag d16;
  const hn::RepartitionToNarrow<CoefficientTag> d8;
  const auto zero = hn::Zero(d16);
  Coefficients v[8];
  for (int row = 0; row < 8; ++row) v[row] = hn::Load(d16, coefficients + row * kRow);
  for (int row = 0; row < 8; ++row) hn::Store(zero, d16, coefficients + row * kRow);
  const auto below = hn::Or(hn::Or(hn::Or(v[1], v[2]), hn::Or(v[3], v[4])), hn::Or(v[5], hn::Or(v[6], v[7])));
  alignas(16) static constexpr std::int16_t kNotFirst[8] = {0, -1, -1, -1, -1, -1, -1, -1};
  const auto others = hn::Or(below, hn::And(v[0], hn::LoadDup128(d16, kNotFirst)));
  v[0] = hn::Mul(v[0], hn::LoadDup128(d16, quantization));
  const auto large = hn::Gt(hn::Abs(v[0]), hn::Set(d16, 8191));
  const bool overflows = !hn::AllFalse(d16, hn::Or(large, hn::Eq(v[0], hn::Set(d16, -32768))));
  if (!overflows && hn::AllTrue(d16, hn::Eq(others, zero))) {
    const auto samples = flat_samples(v[0]);
    for (int row = 0; row < 8; row += 2) store_two_rows(samples, out + row * stride, out + (row + 1) * stride);
    return;
  }
  for (int row = 1; row < 8; ++row) v[row] = hn::Mul(v[row], hn::LoadDup128(d16, quantization + 8 * row));
  if (overflows) [[unlikely]] {
    first_pass_with_overflow(v, below);
  } else {
    transform_rows<kConstantBits - kFirstPassBits>(v);
  }
  transpose(v);
  transform_rows<kConstantBits + kFirstPassBits + 3>(v);
  // Back to rows, in bytes.
  const auto c01 = pack_bytes_signed(v[0], v[1]), c23 = pack_bytes_signed(v[2], v[3]);
  const auto c45 = pack_bytes_signed(v[4], v[5]), c67 = pack_bytes_signed(v[6], v[7]);
  const auto m0 = hn::InterleaveLower(d8, c01, c45), m1 = hn::InterleaveUpper(d8, c01, c45);
  const auto m2 = hn::InterleaveLower(d8, c23, c67), m3 = hn::InterleaveUpper(d8, c23, c67);
  const auto n0 = hn::InterleaveLower(d8, m0, m2), n1 = hn::InterleaveUpper(d8, m0, m2);
  const auto n2 = hn::InterleaveLower(d8, m1, m3), n3 = hn::InterleaveUpper(d8, m1, m3);
  const auto store = [&](hn::Vec<decltype(d8)> rows, int first) HWY_ATTR {
    store_two_rows(rows, out + kRowOrder[first] * stride, out + kRowOrder[first + 1] * stride);
  };
  store(hn::InterleaveLower(d8, n0, n2), 0);
  store(hn::InterleaveUpper(d8, n0, n2), 2);
  store(hn::InterleaveLower(d8, n1, n3), 4);
  store(hn::InterleaveUpper(d8, n1, n3), 6);
}

// The blocks of a vector by the plain transform, where the first row is too large for 16 bits.
HWY_NOINLINE void reduce_with_overflow(const std::int16_t* coefficients, const std::int16_t* quantization, int side,
                                       std::uint8_t* out, std::ptrdiff_t stride) {
  constexpr int kBlocks = static_cast<int>(hn::MaxLanes(CoefficientTag())) / 8;
  for (int block = 0; block < kBlocks; ++block) {
    InverseTransform::reduced_block(coefficients + 8 * block, 8 * kGroupBlocks, quantization, side, out + side * block,
                                    stride);
  }
}

template <int kShift>
HWY_INLINE Coefficients narrowed(WideSums sums) {
  return pack_words(hn::ShiftRight<kShift>(sums.low), hn::ShiftRight<kShift>(sums.high));
}

// Eight rows, of which the fifth has no part in it, become four.
template <int kShift>
HWY_INLINE void reduce_rows_to_4(const Coefficients (&v)[8], Coefficients (&out)[4]) {
  constexpr int kHalf = 1 << (kShift - 1), kFactor = 1 << (kShift / 2);  // which 16 bits hold
  const WideSums even0 =
      InterleavedRows(v[0], hn::Set(CoefficientTag(), kHalf / kFactor)).rotated(1 << (kConstantBits + 1), kFactor);
  const WideSums even2 = InterleavedRows(v[2], v[6]).rotated(15137, -6270);
  const InterleavedRows odd13(v[1], v[3]), odd57(v[5], v[7]);
  const WideSums odd0 = odd13.rotated(20995, 7373) + odd57.rotated(-4926, -4176);
  const WideSums odd1 = odd13.rotated(8697, -17799) + odd57.rotated(11893, -1730);
  const WideSums first = even0 + even2, second = even0 - even2;
  out[0] = narrowed<kShift>(first + odd0);
  out[1] = narrowed<kShift>(second + odd1);
  out[2] = narrowed<kShift>(second - odd1);
  out[3] = narrowed<kShift>(first - odd0);
}

// Of each 128 bits: `kSide` rows of as many samples, one block after another.
template <int kSide>
HWY_INLINE void store_reduced(hn::Vec<hn::RepartitionToNarrow<CoefficientTag>> rows, std::uint8_t* out,
                              std::ptrdiff_t stride) {
  const hn::RebindToUnsigned<hn::RepartitionToNarrow<CoefficientTag>> du8;
  constexpr int kBlocks = static_cast<int>(hn::MaxLanes(CoefficientTag())) / 8;
  alignas(64) std::uint8_t samples[16 * kBlocks];
  hn::Store(hn::Xor(hn::BitCast(du8, rows), hn::Set(du8, 0x80)), du8, samples);
  for (int row = 0; row < kSide; ++row) {
    for (int block = 0; block < kBlocks; ++block) {
      std::memcpy(out + row * stride + block * kSide, samples + 16 * block + row * kSide, kSide);
    }
  }
}

// Of dequantized rows, in which nothing overflows.
HWY_INLINE void reduce_to_4(const Coefficients (&v)[8], std::uint8_t* out, std::ptrdiff_t stride) {
  const CoefficientTag d16;
  const SumTag d32;
  Coefficients rows[4], columns[4];
  reduce_rows_to_4<kConstantBits - kFirstPassBits + 1>(v, rows);
  Coefficients turned[8] = {rows[0],       rows[1],       rows[2],       rows[3],
                            hn::Zero(d16), hn::Zero(d16), hn::Zero(d16), hn::Zero(d16)};
  transpose(turned);
  reduce_rows_to_4<kConstantBits + kFirstPassBits + 4>(turned, columns);
  const auto left = hn::BitCast(d32, hn::InterleaveLower(d16, columns[0], columns[1]));
  const auto right = hn::BitCast(d32, hn::InterleaveLower(d16, columns[2], columns[3]));
  store_reduced<4>(pack_bytes_signed(hn::BitCast(d16, hn::InterleaveLower(d32, left, right)),
                                     hn::BitCast(d16, hn::InterleaveUpper(d32, left, right))),
                   out, stride);
}

HWY_INLINE void reduce_to_2(const Coefficients (&v)[8], std::uint8_t* out, std::ptrdiff_t stride) {
  const CoefficientTag d16;
  const SumTag d32;
  constexpr int kFirst = kConstantBits - kFirstPassBits + 2, kSecond = kConstantBits + kFirstPassBits + 5;
  const WideSums odd =
      InterleavedRows(v[1], v[3]).rotated(29692, -10426) + InterleavedRows(v[5], v[7]).rotated(6967, -5906);
  const InterleavedRows twice(v[0], v[0]);
  const auto half = hn::Set(d32, 1 << (kFirst - 1));
  const WideSums even = twice.rotated(1 << (kConstantBits + 1), 1 << (kConstantBits + 1)) + WideSums{half, half};
  const WideSums first = even + odd, second = even - odd;
  const auto low0 = hn::ShiftRight<kFirst>(first.low), low1 = hn::ShiftRight<kFirst>(second.low);
  const auto row0 = pack_words(low0, hn::ShiftRight<kFirst>(first.high));
  const auto row1 = pack_words(low1, hn::ShiftRight<kFirst>(second.high));
  // Each row's odd columns are added up, those of both rows beside each other.
  alignas(16) static constexpr std::int16_t kOdd[8] = {0, 29692, 0, -10426, 0, 6967, 0, -5906};
  const auto factors = hn::LoadDup128(d16, kOdd);
  const auto dots0 = dot_pairs(row0, factors), dots1 = dot_pairs(row1, factors);
  const auto pairs = hn::Add(hn::InterleaveLower(d32, dots0, dots1), hn::InterleaveUpper(d32, dots0, dots1));
  const auto across = hn::Add(pairs, hn::Shuffle1032(pairs));
  const auto start =
      hn::Add(hn::ShiftLeft<kConstantBits + 2>(hn::InterleaveLower(d32, low0, low1)), hn::Set(d32, 1 << (kSecond - 1)));
  const auto left = hn::ShiftRight<kSecond>(hn::Add(start, across));
  const auto right = hn::ShiftRight<kSecond>(hn::Sub(start, across));
  const auto samples = hn::InterleaveLower(d32, left, right);
  const auto words = pack_words(samples, samples);
  store_reduced<2>(pack_bytes_signed(words, words), out, stride);
}

// As transform_blocks(), to `kSide` rows of as many samples a block: 4 or 2.
template <int kSide>
HWY_INLINE void reduce_blocks(std::int16_t* HWY_RESTRICT coefficients, const std::int16_t* HWY_RESTRICT quantization,
                              std::uint8_t* HWY_RESTRICT out, std::ptrdiff_t stride) {
  constexpr int kRow = 8 * kGroupBlocks;
  const CoefficientTag d16;
  Coefficients v[8];
  for (int row = 0; row < 8; ++row) {
    v[row] = hn::Mul(hn::Load(d16, coefficients + row * kRow), hn::LoadDup128(d16, quantization + 8 * row));
  }
  // Only of 4 x 4 samples there is a shortcut for blocks of one row, which may overflow.
  const auto large = hn::Or(hn::Gt(hn::Abs(v[0]), hn::Set(d16, 8191)), hn::Eq(v[0], hn::Set(d16, -32768)));
  if (kSide == 4 && !hn::AllFalse(d16, large)) [[unlikely]] {
    reduce_with_overflow(coefficients, quantization, kSide, out, stride);
  } else if constexpr (kSide == 4) {
    reduce_to_4(v, out, stride);
  } else {
    reduce_to_2(v, out, stride);
  }
  const auto zero = hn::Zero(d16);
  for (int row = 0; row < 8; ++row) hn::Store(zero, d16, coefficients + row * kRow);
}

/// All four blocks of a group, to `side` rows of as many samples each: 8, 4, 2 or 1. The group is cleared.
HWY_NOINLINE void transform_group(std::int16_t* group, const std::int16_t* quantization, int side, std::uint8_t* out,
                                  std::ptrdiff_t stride) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(CoefficientTag()));
  if (side == 1) {
    for (int block = 0; block < kGroupBlocks; ++block) {
      out[block] = InverseTransform::only_sample(InverseTransform::wrapped(group[8 * block] * quantization[0]));
    }
    const CoefficientTag d16;
    const auto zero = hn::Zero(d16);
    for (int place = 0; place < kGroupCoefficients; place += kLanes) hn::Store(zero, d16, group + place);
    return;
  }
  for (int lane = 0; lane < 8 * kGroupBlocks; lane += kLanes) {
    switch (side) {
      case 8: transform_blocks(group + lane, quantization, out + lane, stride); break;
      case 4: reduce_blocks<4>(group + lane, quantization, out + lane / 2, stride); break;
      default: reduce_blocks<2>(group + lane, quantization, out + lane / 4, stride);
    }
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
