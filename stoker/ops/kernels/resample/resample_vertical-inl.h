// The vertical pass of one output row: weighted sums of whole rows, two rows per multiplication.
#if defined(STOKER_OPS_KERNELS_RESAMPLE_VERTICAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_RESAMPLE_VERTICAL_INL_H_
#undef STOKER_OPS_KERNELS_RESAMPLE_VERTICAL_INL_H_
#else
#define STOKER_OPS_KERNELS_RESAMPLE_VERTICAL_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "stoker/ops/kernels/resample/dot-inl.h"
#include "stoker/ops/kernels/resample/row_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// kPairs: how many pairs of rows, if known when compiling; else 0.
template <int kPairs>
HWY_INLINE void vertical_pairs(const std::uint8_t* const* HWY_RESTRICT rows, const WeightPair* HWY_RESTRICT weights,
                               int pairs, std::size_t bytes, std::uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Repartition<std::int16_t, decltype(d8)> d16;
  const hn::Repartition<std::int32_t, decltype(d8)> d32;
  const auto zero = hn::Zero(d8);
  if (kPairs != 0) pairs = kPairs;
  for (std::size_t at = 0; at < bytes; at += hn::Lanes(d8)) {
    // Lanes are told apart within 128-bit blocks, and packed again in the same order.
    WeightedSum<decltype(d32)> sum0, sum1, sum2, sum3;
    for (int p = 0; p < pairs; ++p) {
      std::int32_t high_bits, low_bits;
      std::memcpy(&high_bits, weights[p].high, sizeof high_bits);
      std::memcpy(&low_bits, weights[p].low, sizeof low_bits);
      const auto high = hn::BitCast(d16, hn::Set(d32, high_bits));
      const auto low = hn::BitCast(d16, hn::Set(d32, low_bits));
      const auto first = hn::LoadU(d8, rows[2 * p] + at), second = hn::LoadU(d8, rows[2 * p + 1] + at);
      const auto lower = hn::InterleaveLower(d8, first, second), upper = hn::InterleaveUpper(d8, first, second);
      sum0.add(hn::BitCast(d16, hn::InterleaveLower(d8, lower, zero)), high, low);
      sum1.add(hn::BitCast(d16, hn::InterleaveUpper(d8, lower, zero)), high, low);
      sum2.add(hn::BitCast(d16, hn::InterleaveLower(d8, upper, zero)), high, low);
      sum3.add(hn::BitCast(d16, hn::InterleaveUpper(d8, upper, zero)), high, low);
    }
    const auto words0 = hn::ReorderDemote2To(d16, sum0.result(), sum1.result());
    const auto words1 = hn::ReorderDemote2To(d16, sum2.result(), sum3.result());
    hn::StoreU(pack_bytes(d8, words0, words1), d8, out + at);
  }
}

void resample_vertical(const std::uint8_t* const* rows, const WeightPair* weights, int pairs, std::size_t bytes,
                       std::uint8_t* out) {
  switch (pairs) {
    case 1: return vertical_pairs<1>(rows, weights, pairs, bytes, out);
    case 2: return vertical_pairs<2>(rows, weights, pairs, bytes, out);
    case 3: return vertical_pairs<3>(rows, weights, pairs, bytes, out);
    default: return vertical_pairs<0>(rows, weights, pairs, bytes, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
