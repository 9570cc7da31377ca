// Products of neighbouring 16-bit lanes summed to 32 bits, and the 22-bit weights built on them.
#if defined(STOKER_OPS_KERNELS_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_DOT_INL_H_
#undef STOKER_OPS_KERNELS_DOT_INL_H_
#else
#define STOKER_OPS_KERNELS_DOT_INL_H_
#endif

#include <hwy/highway.h>

#include "stoker/ops/kernels/row_kernels.h"
#include "stoker/ops/taps.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 32-bit lane i: a[2i] * b[2i] + a[2i+1] * b[2i+1]. (Highway's ReorderWidenMulAccumulate leaves open which lanes meet.)
#if HWY_TARGET <= HWY_SSE4 && HWY_ARCH_X86
HWY_INLINE hn::Vec128<std::int32_t> dot_pairs(hn::Vec128<std::int16_t> a, hn::Vec128<std::int16_t> b) {
  return hn::Vec128<std::int32_t>{_mm_madd_epi16(a.raw, b.raw)};
}
#if HWY_TARGET <= HWY_AVX2
HWY_INLINE hn::Vec256<std::int32_t> dot_pairs(hn::Vec256<std::int16_t> a, hn::Vec256<std::int16_t> b) {
  return hn::Vec256<std::int32_t>{_mm256_madd_epi16(a.raw, b.raw)};
}
#endif
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<std::int32_t> dot_pairs(hn::Vec512<std::int16_t> a, hn::Vec512<std::int16_t> b) {
  return hn::Vec512<std::int32_t>{_mm512_madd_epi16(a.raw, b.raw)};
}
#endif
#else
template <class V>
HWY_INLINE hn::Vec<hn::RepartitionToWide<hn::DFromV<V>>> dot_pairs(V a, V b) {
  const hn::RepartitionToWide<hn::DFromV<V>> d32;
  const auto a_wide = hn::BitCast(d32, a), b_wide = hn::BitCast(d32, b);
  const auto a_even = hn::ShiftRight<16>(hn::ShiftLeft<16>(a_wide)),
             b_even = hn::ShiftRight<16>(hn::ShiftLeft<16>(b_wide));
  return hn::Add(hn::Mul(a_even, b_even), hn::Mul(hn::ShiftRight<16>(a_wide), hn::ShiftRight<16>(b_wide)));
}
#endif

// Clamped to bytes: within each 128-bit block the lanes of `a`, then those of `b`.
template <class D8, class V16>
HWY_INLINE hn::Vec<D8> pack_bytes(D8 d8, V16 a, V16 b) {
#if HWY_TARGET == HWY_AVX3
  (void)d8;
  return hn::Vec<D8>{_mm512_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  (void)d8;
  return hn::Vec<D8>{_mm256_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE4
  (void)d8;
  return hn::Vec<D8>{_mm_packus_epi16(a.raw, b.raw)};
#else
  const hn::Half<D8> half;
  return hn::Combine(d8, hn::DemoteTo(half, b), hn::DemoteTo(half, a));
#endif
}

constexpr std::int32_t kHalf = std::int32_t{1} << (kTapBits - 1);

// A running weighted sum. The low half starts at 0.5, so that the final shift rounds.
template <class D32>
struct WeightedSum {
  hn::Vec<D32> high, low;

  HWY_INLINE WeightedSum() : high(hn::Zero(D32())), low(hn::Set(D32(), kHalf)) {}

  template <class V16>
  HWY_INLINE void add(V16 values, V16 high_weights, V16 low_weights) {
    high = hn::Add(high, dot_pairs(values, high_weights));
    low = hn::Add(low, dot_pairs(values, low_weights));
  }
  // Not yet clamped to 0 .. 255.
  HWY_INLINE hn::Vec<D32> result() const {
    return hn::ShiftRight<kTapBits>(hn::Add(hn::ShiftLeft<kLowWeightBits>(high), low));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
