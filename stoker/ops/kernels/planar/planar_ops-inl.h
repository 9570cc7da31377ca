// Operations that the kernels of planar mode need and Highway lacks: sums of products of bytes, and windows of bytes.
#if defined(STOKER_OPS_KERNELS_PLANAR_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PLANAR_OPS_INL_H_
#undef STOKER_OPS_KERNELS_PLANAR_OPS_INL_H_
#else
#define STOKER_OPS_KERNELS_PLANAR_OPS_INL_H_
#endif

#include <hwy/highway.h>

#include "stoker/ops/kernels/planar/planar_kernels.h"
#include "stoker/ops/kernels/resample/dot-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#undef STOKER_PLANAR_AVX3
#undef STOKER_PLANAR_AVX2
#undef STOKER_PLANAR_SSE4
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define STOKER_PLANAR_AVX3 1
using Bytes8 = hn::FixedTag<std::uint8_t, 64>;
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define STOKER_PLANAR_AVX2 1
using Bytes8 = hn::FixedTag<std::uint8_t, 32>;
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
#define STOKER_PLANAR_SSE4 1
using Bytes8 = hn::FixedTag<std::uint8_t, 16>;
#else
using Bytes8 = hn::FixedTag<std::uint8_t, 16>;
#endif
using Words16 = hn::Repartition<std::int16_t, Bytes8>;
using Sums32 = hn::Repartition<std::int32_t, Bytes8>;
using Values32 = hn::Repartition<float, Bytes8>;
using ByteVec = hn::Vec<Bytes8>;
using WordVec = hn::Vec<Words16>;
using SumVec = hn::Vec<Sums32>;
using ValueVec = hn::Vec<Values32>;
// The emulation does not fuse the two: it would take half a minute to compile.
#undef STOKER_PLANAR_FUSED
#define STOKER_PLANAR_FUSED (HWY_TARGET != HWY_EMU128)
constexpr std::size_t kPlanarLanes = hn::MaxLanes(Sums32());
constexpr std::size_t kPlanarBytes = hn::MaxLanes(Bytes8());

// 16-bit lane i: weights[2i] * samples[2i] + weights[2i + 1] * samples[2i + 1], of unsigned weights that sum to at most
// 256 and signed samples: no sum saturates.
HWY_INLINE WordVec byte_dots(ByteVec weights, ByteVec samples) {
#if defined(STOKER_PLANAR_AVX3)
  return WordVec{_mm512_maddubs_epi16(weights.raw, samples.raw)};
#elif defined(STOKER_PLANAR_AVX2)
  return WordVec{_mm256_maddubs_epi16(weights.raw, samples.raw)};
#elif defined(STOKER_PLANAR_SSE4)
  return WordVec{_mm_maddubs_epi16(weights.raw, samples.raw)};
#else
  const Words16 d16;
  const auto w = hn::BitCast(d16, weights), s = hn::BitCast(d16, samples);
  const auto even = hn::Mul(hn::And(w, hn::Set(d16, 0xFF)), hn::ShiftRight<8>(hn::ShiftLeft<8>(s)));
  const hn::Repartition<std::uint16_t, Bytes8> du16;
  const auto odd = hn::Mul(hn::BitCast(d16, hn::ShiftRight<8>(hn::BitCast(du16, w))), hn::ShiftRight<8>(s));
  return hn::Add(even, odd);
#endif
}

// (lane + 128) >> 8 as bytes, block by block: the lanes of `low`, then those of `high`.
HWY_INLINE ByteVec rounded_bytes(WordVec low, WordVec high) {
#if defined(STOKER_PLANAR_AVX3)
  const __m512i round = _mm512_set1_epi16(128);
  return ByteVec{_mm512_packs_epi16(_mm512_mulhrs_epi16(low.raw, round), _mm512_mulhrs_epi16(high.raw, round))};
#elif defined(STOKER_PLANAR_AVX2)
  const __m256i round = _mm256_set1_epi16(128);
  return ByteVec{_mm256_packs_epi16(_mm256_mulhrs_epi16(low.raw, round), _mm256_mulhrs_epi16(high.raw, round))};
#elif defined(STOKER_PLANAR_SSE4)
  const __m128i round = _mm_set1_epi16(128);
  return ByteVec{_mm_packs_epi16(_mm_mulhrs_epi16(low.raw, round), _mm_mulhrs_epi16(high.raw, round))};
#else
  const hn::Repartition<std::int8_t, Bytes8> d8;
  const hn::Half<decltype(d8)> half;
  const auto round = hn::Set(Words16(), 128);
  return hn::BitCast(Bytes8(), hn::Combine(d8, hn::DemoteTo(half, hn::ShiftRight<8>(hn::Add(high, round))),
                                           hn::DemoteTo(half, hn::ShiftRight<8>(hn::Add(low, round)))));
#endif
}

// sum + the four products of bytes (or two of 16-bit values) in each 32-bit lane.
template <bool kShort>
HWY_INLINE SumVec add_dots(SumVec sum, ByteVec weights, ByteVec samples) {
  const Words16 d16;
#if HWY_TARGET == HWY_AVX3_DL
  if (kShort) return SumVec{_mm512_dpwssd_epi32(sum.raw, weights.raw, samples.raw)};
  return SumVec{_mm512_dpbusd_epi32(sum.raw, weights.raw, samples.raw)};
#else
  if (kShort) return hn::Add(sum, dot_pairs(hn::BitCast(d16, weights), hn::BitCast(d16, samples)));
  return hn::Add(sum, dot_pairs(byte_dots(weights, samples), hn::Set(d16, 1)));
#endif
}

// The windows of the blocks that one vector of outputs is made of, and the bytes that the outputs take out of them.
#if HWY_TARGET == HWY_AVX3_DL
constexpr int kPlanarBlock = 16, kPlanarWindow = 64;
HWY_INLINE ByteVec window_bytes(const std::uint8_t* row, const std::int32_t* base, ByteVec shuffle) {
  return ByteVec{_mm512_permutexvar_epi8(shuffle.raw, _mm512_loadu_si512(row + base[0]))};
}
#else
constexpr int kPlanarBlock = 4, kPlanarWindow = 16;
HWY_INLINE ByteVec window_bytes(const std::uint8_t* row, const std::int32_t* base, ByteVec shuffle) {
#if defined(STOKER_PLANAR_AVX3)
  const __m512i first = _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row + base[0])));
  const __m512i second = _mm512_inserti32x4(first, _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + base[1])), 1);
  const __m512i third = _mm512_inserti32x4(second, _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + base[2])), 2);
  const __m512i all = _mm512_inserti32x4(third, _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + base[3])), 3);
  return ByteVec{_mm512_shuffle_epi8(all, shuffle.raw)};
#elif defined(STOKER_PLANAR_AVX2)
  const __m256i first = _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row + base[0])));
  const __m256i all =
      _mm256_inserti128_si256(first, _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + base[1])), 1);
  return ByteVec{_mm256_shuffle_epi8(all, shuffle.raw)};
#else
  return hn::TableLookupBytes(hn::LoadU(Bytes8(), row + base[0]), shuffle);
#endif
}
#endif

// The same, fetched one by one.
HWY_INLINE ByteVec gathered_bytes(const std::uint8_t* row, const std::int32_t* offset, ByteVec shuffle) {
#if defined(STOKER_PLANAR_AVX3)
  return ByteVec{_mm512_shuffle_epi8(_mm512_i32gather_epi32(_mm512_loadu_si512(offset), row, 1), shuffle.raw)};
#elif defined(STOKER_PLANAR_AVX2)
  const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offset));
  return ByteVec{_mm256_shuffle_epi8(_mm256_i32gather_epi32(reinterpret_cast<const int*>(row), at, 1), shuffle.raw)};
#else
  alignas(16) std::uint32_t fetched[kPlanarLanes];
  for (std::size_t i = 0; i < kPlanarLanes; ++i) hwy::CopyBytes<4>(row + offset[i], fetched + i);
  return hn::TableLookupBytes(hn::BitCast(Bytes8(), hn::Load(hn::Repartition<std::uint32_t, Bytes8>(), fetched)),
                              shuffle);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
