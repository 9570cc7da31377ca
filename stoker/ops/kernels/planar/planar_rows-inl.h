// The vertical pass of planar mode: weighted sums of whole rows, two rows per multiplication, of signed samples.
#if defined(STOKER_OPS_KERNELS_PLANAR_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PLANAR_ROWS_INL_H_
#undef STOKER_OPS_KERNELS_PLANAR_ROWS_INL_H_
#else
#define STOKER_OPS_KERNELS_PLANAR_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include "stoker/ops/kernels/planar/planar_ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The rows of one output. All but the last pair are neighbours; the last row of an odd number is its own partner.
struct PlanarSourceRows {
  const std::uint8_t* first;
  std::ptrdiff_t stride;
  std::ptrdiff_t last_partner;  // from the first row of the last pair to its second

  HWY_INLINE PlanarSourceRows(const PlanarRowTable& table, const PlanarRows& rows, int output)
      : first(rows.samples + (table.first[output] - rows.first_row) * rows.stride),
        stride(rows.stride),
        last_partner(table.taps[output] % 2 ? 0 : rows.stride) {}
};

struct WordSums {
  WordVec low, high;
};

HWY_INLINE WordSums dots_of_rows(const std::uint8_t* row, const std::uint8_t* partner, ByteVec weights) {
  const Bytes8 d8;
  const auto sign = hn::Set(d8, 0x80);
  const auto a = hn::Xor(hn::LoadU(d8, row), sign), b = hn::Xor(hn::LoadU(d8, partner), sign);
  return {byte_dots(weights, hn::InterleaveLower(d8, a, b)), byte_dots(weights, hn::InterleaveUpper(d8, a, b))};
}

HWY_INLINE ByteVec repeated_pair(std::uint32_t pair) {
  return hn::BitCast(Bytes8(), hn::Set(Words16(), static_cast<std::int16_t>(pair)));
}

// kPairs: how many pairs of rows, if known when compiling; else 0.
template <int kPairs>
HWY_INLINE void sum_rows8(const PlanarSourceRows& rows, const std::uint32_t* HWY_RESTRICT weights, int pairs,
                          std::size_t columns, std::uint8_t* HWY_RESTRICT out) {
  if (kPairs != 0) pairs = kPairs;
  const std::ptrdiff_t step = 2 * rows.stride;
  if constexpr (kPairs == 1) {
    const auto weight = repeated_pair(weights[0]);
    const std::uint8_t* partner = rows.first + rows.last_partner;
    for (std::size_t at = 0; at < columns; at += kPlanarBytes) {
      const WordSums sums = dots_of_rows(rows.first + at, partner + at, weight);
      hn::StoreU(rounded_bytes(sums.low, sums.high), Bytes8(), out + at);
    }
  } else if constexpr (kPairs == 2) {
    const auto weight0 = repeated_pair(weights[0]), weight1 = repeated_pair(weights[1]);
    const std::uint8_t *second = rows.first + rows.stride, *third = rows.first + step,
                       *partner = third + rows.last_partner;
    for (std::size_t at = 0; at < columns; at += kPlanarBytes) {
      const WordSums a = dots_of_rows(rows.first + at, second + at, weight0);
      const WordSums b = dots_of_rows(third + at, partner + at, weight1);
      hn::StoreU(rounded_bytes(hn::Add(a.low, b.low), hn::Add(a.high, b.high)), Bytes8(), out + at);
    }
  } else {
    for (std::size_t at = 0; at < columns; at += kPlanarBytes) {
      const std::uint8_t* row = rows.first + at;
      WordSums sums = {hn::Zero(Words16()), hn::Zero(Words16())};
      for (int p = 0; p < pairs; ++p, row += step) {
        const std::ptrdiff_t partner = p + 1 == pairs ? rows.last_partner : rows.stride;
        const WordSums more = dots_of_rows(row, row + partner, repeated_pair(weights[p]));
        sums = {hn::Add(sums.low, more.low), hn::Add(sums.high, more.high)};
      }
      hn::StoreU(rounded_bytes(sums.low, sums.high), Bytes8(), out + at);
    }
  }
}

void planar_rows8(const PlanarRowTable& table, const PlanarRows& rows, std::size_t columns, int begin, int end,
                  std::uint8_t* out, std::size_t out_stride) {
  for (int output = begin; output < end; ++output, out += out_stride) {
    const std::uint32_t* weights =
        table.pairs + static_cast<std::size_t>(output) * static_cast<std::size_t>(table.pairs_max);
    const PlanarSourceRows source(table, rows, output);
    const int pairs = (table.taps[output] + 1) / 2;
    switch (pairs) {
      case 1: sum_rows8<1>(source, weights, pairs, columns, out); break;
      case 2: sum_rows8<2>(source, weights, pairs, columns, out); break;
      case 3: sum_rows8<3>(source, weights, pairs, columns, out); break;
      default: sum_rows8<0>(source, weights, pairs, columns, out); break;
    }
  }
}

void planar_rows16(const PlanarRowTable& table, const PlanarRows& rows, std::size_t columns, int begin, int end,
                   std::uint8_t* out, std::size_t out_stride) {
  const Bytes8 d8;
  const Words16 d16;
  const Sums32 d32;
  const auto zero = hn::Zero(d8);
  const auto start = hn::Set(d32, 128 - (128 << 14));  // samples are unsigned here, what is written is signed
  for (int output = begin; output < end; ++output, out += out_stride) {
    const std::uint32_t* weights =
        table.pairs + static_cast<std::size_t>(output) * static_cast<std::size_t>(table.pairs_max);
    const PlanarSourceRows source(table, rows, output);
    const int pairs = (table.taps[output] + 1) / 2;
    for (std::size_t at = 0; at < columns; at += kPlanarBytes) {
      const std::uint8_t* row = source.first + at;
      SumVec sums[4] = {start, start, start, start};
      for (int p = 0; p < pairs; ++p, row += 2 * source.stride) {
        const std::uint8_t* partner = row + (p + 1 == pairs ? source.last_partner : source.stride);
        const auto weight = hn::BitCast(d16, hn::Set(d32, static_cast<std::int32_t>(weights[p])));
        const auto a = hn::LoadU(d8, row), b = hn::LoadU(d8, partner);
        const auto low = hn::InterleaveLower(d8, a, b), high = hn::InterleaveUpper(d8, a, b);
        const auto dots = [&](ByteVec words) HWY_ATTR { return dot_pairs(hn::BitCast(d16, words), weight); };
        sums[0] = hn::Add(sums[0], dots(hn::InterleaveLower(d8, low, zero)));
        sums[1] = hn::Add(sums[1], dots(hn::InterleaveUpper(d8, low, zero)));
        sums[2] = hn::Add(sums[2], dots(hn::InterleaveLower(d8, high, zero)));
        sums[3] = hn::Add(sums[3], dots(hn::InterleaveUpper(d8, high, zero)));
      }
      // Block by block of 16 columns: words_low has the first 8 of each block, words_high the others.
      const auto words_low = hn::ReorderDemote2To(d16, hn::ShiftRight<8>(sums[0]), hn::ShiftRight<8>(sums[1]));
      const auto words_high = hn::ReorderDemote2To(d16, hn::ShiftRight<8>(sums[2]), hn::ShiftRight<8>(sums[3]));
      alignas(64) std::int16_t words[2][kPlanarBytes / 2];
      hn::Store(words_low, d16, words[0]);
      hn::Store(words_high, d16, words[1]);
      for (std::size_t block = 0; block < kPlanarBytes / 16; ++block) {
        for (std::size_t half = 0; half < 2; ++half)
          hwy::CopyBytes<16>(words[half] + 8 * block, out + 2 * at + 32 * block + 16 * half);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
