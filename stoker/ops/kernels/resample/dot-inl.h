// Sums of bytes times 22-bit weights.
#if defined(STOKER_OPS_KERNELS_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_DOT_INL_H_
#undef STOKER_OPS_KERNELS_DOT_INL_H_
#else
#define STOKER_OPS_KERNELS_DOT_INL_H_
#endif

#include <hwy/highway.h>

#include "stoker/base/simd_words-inl.h"
#include "stoker/ops/kernels/resample/row_kernels.h"
#include "stoker/ops/taps.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Clamped to bytes: within each 128-bit block the lanes of `a`, then those of `b`.
template <class D8, class V16>
HWY_INLINE hn::Vec<D8> pack_bytes(D8 d8, V16 a, V16 b) {
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3
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
