// Operations on 16-bit lanes that Highway lacks: sums of products of neighbours, and packing within 128-bit blocks.
#if defined(STOKER_BASE_SIMD_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_BASE_SIMD_WORDS_INL_H_
#undef STOKER_BASE_SIMD_WORDS_INL_H_
#else
#define STOKER_BASE_SIMD_WORDS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// dot_pairs(a, b), 32-bit lane i: a[2i] * b[2i] + a[2i+1] * b[2i+1]. (Highway's ReorderWidenMulAccumulate leaves open
// which lanes meet.)
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

// pack_words(a, b), pack_bytes_signed(a, b): lanes clamped to half their size, in each 128-bit block those of `a`, then
// those of `b`.
#if HWY_TARGET <= HWY_SSE4 && HWY_ARCH_X86
HWY_INLINE hn::Vec128<std::int16_t> pack_words(hn::Vec128<std::int32_t> a, hn::Vec128<std::int32_t> b) {
  return hn::Vec128<std::int16_t>{_mm_packs_epi32(a.raw, b.raw)};
}
HWY_INLINE hn::Vec128<std::int8_t> pack_bytes_signed(hn::Vec128<std::int16_t> a, hn::Vec128<std::int16_t> b) {
  return hn::Vec128<std::int8_t>{_mm_packs_epi16(a.raw, b.raw)};
}
#if HWY_TARGET <= HWY_AVX2
HWY_INLINE hn::Vec256<std::int16_t> pack_words(hn::Vec256<std::int32_t> a, hn::Vec256<std::int32_t> b) {
  return hn::Vec256<std::int16_t>{_mm256_packs_epi32(a.raw, b.raw)};
}
HWY_INLINE hn::Vec256<std::int8_t> pack_bytes_signed(hn::Vec256<std::int16_t> a, hn::Vec256<std::int16_t> b) {
  return hn::Vec256<std::int8_t>{_mm256_packs_epi16(a.raw, b.raw)};
}
#endif
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<std::int16_t> pack_words(hn::Vec512<std::int32_t> a, hn::Vec512<std::int32_t> b) {
  return hn::Vec512<std::int16_t>{_mm512_packs_epi32(a.raw, b.raw)};
}
HWY_INLINE hn::Vec512<std::int8_t> pack_bytes_signed(hn::Vec512<std::int16_t> a, hn::Vec512<std::int16_t> b) {
  return hn::Vec512<std::int8_t>{_mm512_packs_epi16(a.raw, b.raw)};
}
#endif
#else
template <class V>  // of one block
HWY_INLINE hn::Vec<hn::RepartitionToNarrow<hn::DFromV<V>>> pack_words(V a, V b) {
  const hn::RepartitionToNarrow<hn::DFromV<V>> d16;
  const hn::Half<decltype(d16)> half;
  return hn::Combine(d16, hn::DemoteTo(half, b), hn::DemoteTo(half, a));
}
template <class V>
HWY_INLINE hn::Vec<hn::RepartitionToNarrow<hn::DFromV<V>>> pack_bytes_signed(V a, V b) {
  const hn::RepartitionToNarrow<hn::DFromV<V>> d8;
  const hn::Half<decltype(d8)> half;
  return hn::Combine(d8, hn::DemoteTo(half, b), hn::DemoteTo(half, a));
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
