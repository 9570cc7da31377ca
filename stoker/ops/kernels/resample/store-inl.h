// Storing float32 as the element types of tensors: the SIMD twins of f16_from_f32 and its like in tensor/rounding.h.
#if defined(STOKER_OPS_KERNELS_STORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_STORE_INL_H_
#undef STOKER_OPS_KERNELS_STORE_INL_H_
#else
#define STOKER_OPS_KERNELS_STORE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;
using BitsTag = hn::RebindToUnsigned<FloatTag>;
using SignedTag = hn::RebindToSigned<FloatTag>;

struct StoreF32 {
  using Element = float;
  static HWY_INLINE void store(Floats value, float* out) { hn::StoreU(value, FloatTag(), out); }
};

struct StoreBF16 {
  using Element = std::uint16_t;
  static HWY_INLINE void store(Floats value, std::uint16_t* out) {
    const BitsTag d;
    const auto bits = hn::BitCast(d, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(hn::Set(d, 0x7FFF), odd)));
    const auto quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(d, 0x40));
    const auto result = hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(value)), quiet, rounded);
    const hn::Rebind<std::uint16_t, SignedTag> d16;
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(SignedTag(), result)), d16, out);
  }
};

struct StoreF16 {
  using Element = std::uint16_t;
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  static HWY_INLINE void store(Floats value, std::uint16_t* out) {
    const hn::Rebind<hwy::float16_t, FloatTag> d16;
    hn::StoreU(hn::DemoteTo(d16, value), d16, reinterpret_cast<hwy::float16_t*>(out));
  }
#else
  static HWY_INLINE void store(Floats value, std::uint16_t* out) {
    const BitsTag d;
    const SignedTag di;
    const auto bits = hn::BitCast(d, value);
    const auto magnitude = hn::And(bits, hn::Set(d, 0x7FFFFFFF));
    const auto compared = hn::BitCast(di, magnitude);  // no sign bit: signed comparison is right, and native
    // Below 2^-14: adding 2^23 to the number of units of 2^-24 leaves their rounded count in the low bits.
    const auto units = hn::Mul(hn::BitCast(FloatTag(), magnitude), hn::Set(FloatTag(), 0x1p24f));
    const auto subnormal = hn::And(hn::BitCast(d, hn::Add(units, hn::Set(FloatTag(), 0x1p23f))), hn::Set(d, 0x7FFFFF));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 1));
    const auto normal =
        hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, hn::Set(d, 0x38000000)), hn::Add(hn::Set(d, 0xFFF), odd)));
    const auto quiet = hn::Or(hn::Set(d, 0x7E00), hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 0x3FF)));
    auto half = hn::IfThenElse(hn::RebindMask(d, hn::Lt(compared, hn::Set(di, 0x38800000))), subnormal, normal);
    half = hn::IfThenElse(hn::RebindMask(d, hn::Gt(compared, hn::Set(di, 0x477FFFFF))), hn::Set(d, 0x7C00), half);
    half = hn::IfThenElse(hn::RebindMask(d, hn::Gt(compared, hn::Set(di, 0x7F800000))), quiet, half);
    half = hn::Or(half, hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000)));
    const hn::Rebind<std::uint16_t, SignedTag> d16;
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, half)), d16, out);
  }
#endif
};

struct StoreU8 {
  using Element = std::uint8_t;
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3
  static HWY_INLINE void store(Floats value, std::uint8_t* out) {
    // NaN to 0; to the nearest integer, ties to even; what is too large for one becomes 2^31, and saturates as others
    // do.
    const __m512i integers = _mm512_cvtps_epi32(_mm512_max_ps(value.raw, _mm512_setzero_ps()));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtusepi32_epi8(integers));
  }
#else
  static HWY_INLINE void store(Floats value, std::uint8_t* out) {
    const FloatTag d;
    const auto positive = hn::IfThenElseZero(hn::Gt(value, hn::Zero(d)), value);  // NaN to 0
    const auto clamped = hn::Min(positive, hn::Set(d, 255.0f));
    // Adding 2^23 leaves the nearest integer, ties to even, in the low bits.
    const auto bits = hn::BitCast(SignedTag(), hn::Add(clamped, hn::Set(d, 0x1p23f)));
    const hn::Rebind<std::uint8_t, SignedTag> d8;
    hn::StoreU(hn::DemoteTo(d8, hn::And(bits, hn::Set(SignedTag(), 0xFF))), d8, out);
  }
#endif
};

// For what is not read soon and caches have no room for: where a vector is a whole line of the cache, it goes to
// memory without that line being read first. hwy::FlushStream() has to follow before another thread may look.
template <class Store>
HWY_INLINE void store_past_caches(Floats value, typename Store::Element* out) {
  constexpr std::size_t kLine = 64;
  if constexpr (std::is_same_v<Store, StoreF32> && hn::MaxLanes(FloatTag()) * sizeof(float) == kLine) {
    if (reinterpret_cast<std::uintptr_t>(out) % kLine == 0) return hn::Stream(value, FloatTag(), out);
  }
  Store::store(value, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
