// Bytes through affine maps in float32, then the cast.
#if defined(STOKER_OPS_KERNELS_CONVERT_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_CONVERT_ROW_INL_H_
#undef STOKER_OPS_KERNELS_CONVERT_ROW_INL_H_
#else
#define STOKER_OPS_KERNELS_CONVERT_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "stoker/ops/kernels/resample/row_kernels.h"
#include "stoker/ops/kernels/resample/store-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// No fused multiply-add: the product and the sum each round, as ARCHITECTURE.md says.
HWY_INLINE Floats mapped(const std::uint8_t* values, Floats scale, Floats bias) {
  const hn::Rebind<std::uint8_t, SignedTag> d8;
  const auto integers = hn::PromoteTo(SignedTag(), hn::LoadU(d8, values));
  return hn::Add(hn::Mul(hn::ConvertTo(FloatTag(), integers), scale), bias);
}

template <class Store>
HWY_INLINE void convert_as(const std::uint8_t* HWY_RESTRICT values, std::size_t count, const AffinePattern& pattern,
                           typename Store::Element* HWY_RESTRICT out) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto scale0 = hn::LoadU(d, pattern.scale), bias0 = hn::LoadU(d, pattern.bias);
  const auto scale1 = hn::LoadU(d, pattern.scale + lanes), bias1 = hn::LoadU(d, pattern.bias + lanes);
  const auto scale2 = hn::LoadU(d, pattern.scale + 2 * lanes), bias2 = hn::LoadU(d, pattern.bias + 2 * lanes);
  std::size_t i = 0;
  for (; i + 3 * lanes <= count; i += 3 * lanes) {
    Store::store(mapped(values + i, scale0, bias0), out + i);
    Store::store(mapped(values + i + lanes, scale1, bias1), out + i + lanes);
    Store::store(mapped(values + i + 2 * lanes, scale2, bias2), out + i + 2 * lanes);
  }
  const auto at_phase = [&](const std::uint8_t* from, std::size_t phase) HWY_ATTR {
    return mapped(from, hn::LoadU(d, pattern.scale + phase), hn::LoadU(d, pattern.bias + phase));
  };
  for (; i + lanes <= count; i += lanes) Store::store(at_phase(values + i, i % 3), out + i);
  if (i == count) return;
  if (count >= lanes) {  // overlaps the vector before it
    i = count - lanes;
    Store::store(at_phase(values + i, i % 3), out + i);
    return;
  }
  std::uint8_t padded[hn::MaxLanes(FloatTag())] = {};
  typename Store::Element results[hn::MaxLanes(FloatTag())];
  std::memcpy(padded, values, count);
  Store::store(at_phase(padded, 0), results);
  std::memcpy(out, results, count * sizeof(results[0]));
}

void convert_row(const std::uint8_t* values, std::size_t count, const AffinePattern& pattern, DType dtype,
                 std::uint8_t* out) {
  switch (dtype) {
    case DType::kF32: return convert_as<StoreF32>(values, count, pattern, reinterpret_cast<float*>(out));
    case DType::kF16: return convert_as<StoreF16>(values, count, pattern, reinterpret_cast<std::uint16_t*>(out));
    case DType::kBF16: return convert_as<StoreBF16>(values, count, pattern, reinterpret_cast<std::uint16_t*>(out));
    case DType::kU8: return convert_as<StoreU8>(values, count, pattern, out);
    default: return;  // no image is stored so; convert_pixels refuses it
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
