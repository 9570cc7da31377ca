// The colour step of planar mode: Y, Cb, Cr through JFIF's matrix and a color map, clamped and cast.
#if defined(STOKER_OPS_KERNELS_PLANAR_COLOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PLANAR_COLOR_INL_H_
#undef STOKER_OPS_KERNELS_PLANAR_COLOR_INL_H_
#else
#define STOKER_OPS_KERNELS_PLANAR_COLOR_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "stoker/ops/kernels/planar/planar_ops-inl.h"
#include "stoker/ops/kernels/resample/store-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct SlotVectors {
  ValueVec slot0, slot1, slot2;
};

// Multiplications are fused only where the product is exact (PlanarColor): it rounds nothing that a sum would not.
struct PlanarColorVectors {
  ValueVec scale0, scale1, scale2, bias0, bias1, bias2, low0, low1, low2, high0, high1, high2;
  ValueVec cb0, cb1, cb2, cr0, cr1, cr2;

  HWY_INLINE explicit PlanarColorVectors(const PlanarColorSlots& slots) {
    const Values32 d;
    scale0 = hn::Set(d, slots.scale[0]), scale1 = hn::Set(d, slots.scale[1]), scale2 = hn::Set(d, slots.scale[2]);
    bias0 = hn::Set(d, slots.bias[0]), bias1 = hn::Set(d, slots.bias[1]), bias2 = hn::Set(d, slots.bias[2]);
    low0 = hn::Set(d, slots.low[0]), low1 = hn::Set(d, slots.low[1]), low2 = hn::Set(d, slots.low[2]);
    high0 = hn::Set(d, slots.high[0]), high1 = hn::Set(d, slots.high[1]), high2 = hn::Set(d, slots.high[2]);
    cb0 = hn::Set(d, slots.from_cb[0]), cb1 = hn::Set(d, slots.from_cb[1]), cb2 = hn::Set(d, slots.from_cb[2]);
    cr0 = hn::Set(d, slots.from_cr[0]), cr1 = hn::Set(d, slots.from_cr[1]), cr2 = hn::Set(d, slots.from_cr[2]);
  }

  HWY_INLINE SlotVectors grey(SumVec y_sum) const {
    const auto y = hn::ConvertTo(Values32(), y_sum);
    return {hn::Add(hn::Mul(y, scale0), bias0), hn::Add(hn::Mul(y, scale1), bias1), hn::Add(hn::Mul(y, scale2), bias2)};
  }
  // Slots are red, green, blue: products with 0 are left out.
  HWY_INLINE SlotVectors ordered(SumVec y_sum, SumVec cb_sum, SumVec cr_sum) const {
    const SlotVectors y = grey(y_sum);
    const auto cb = hn::ConvertTo(Values32(), cb_sum), cr = hn::ConvertTo(Values32(), cr_sum);
    return clamped({hn::MulAdd(cr, cr0, y.slot0), hn::MulAdd(cr, cr1, hn::MulAdd(cb, cb1, y.slot1)),
                    hn::MulAdd(cb, cb2, y.slot2)});
  }
  HWY_INLINE SlotVectors any(SumVec y_sum, SumVec cb_sum, SumVec cr_sum) const {
    const SlotVectors y = grey(y_sum);
    const auto cb = hn::ConvertTo(Values32(), cb_sum), cr = hn::ConvertTo(Values32(), cr_sum);
    return clamped({hn::MulAdd(cr, cr0, hn::MulAdd(cb, cb0, y.slot0)),
                    hn::MulAdd(cr, cr1, hn::MulAdd(cb, cb1, y.slot1)),
                    hn::MulAdd(cr, cr2, hn::MulAdd(cb, cb2, y.slot2))});
  }

 private:
  HWY_INLINE SlotVectors clamped(const SlotVectors& v) const {
    return {hn::Min(high0, hn::Max(low0, v.slot0)), hn::Min(high1, hn::Max(low1, v.slot1)),
            hn::Min(high2, hn::Max(low2, v.slot2))};
  }
};

#undef STOKER_PLANAR_INLINE
enum class PlanarColors { kGrey, kOrdered, kAny };

#if STOKER_PLANAR_FUSED
#define STOKER_PLANAR_INLINE HWY_INLINE
#else
#define STOKER_PLANAR_INLINE static HWY_NOINLINE
#endif

template <class Store, PlanarColors kColors>
STOKER_PLANAR_INLINE void color_pixels(const PlanarColorVectors& color, const std::uint8_t* y, const std::uint8_t* cb,
                                       const std::uint8_t* cr, typename Store::Element* const* out, std::size_t at) {
  const hn::Rebind<std::uint8_t, Sums32> d8;
  const auto neutral = hn::Set(Sums32(), 128);
  const auto y_values = hn::PromoteTo(Sums32(), hn::LoadU(d8, y));
  SlotVectors values = color.grey(y_values);
  if constexpr (kColors != PlanarColors::kGrey) {
    const auto cb_values = hn::Sub(hn::PromoteTo(Sums32(), hn::LoadU(d8, cb)), neutral);
    const auto cr_values = hn::Sub(hn::PromoteTo(Sums32(), hn::LoadU(d8, cr)), neutral);
    values = kColors == PlanarColors::kOrdered ? color.ordered(y_values, cb_values, cr_values)
                                               : color.any(y_values, cb_values, cr_values);
  }
  Store::store(values.slot0, out[0] + at);
  Store::store(values.slot1, out[1] + at);
  Store::store(values.slot2, out[2] + at);
}

template <class Store, PlanarColors kColors>
HWY_INLINE void color_row(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                          const PlanarColorSlots& slots, std::uint8_t* const* out_bytes) {
  using Element = typename Store::Element;
  constexpr bool kGrey = kColors == PlanarColors::kGrey;
  const PlanarColorVectors color(slots);
  Element* const out[3] = {reinterpret_cast<Element*>(out_bytes[0]), reinterpret_cast<Element*>(out_bytes[1]),
                           reinterpret_cast<Element*>(out_bytes[2])};
  if (count < kPlanarLanes) {
    std::uint8_t padded[3][kPlanarLanes] = {};
    Element results[3][kPlanarLanes];
    Element* const to[3] = {results[0], results[1], results[2]};
    std::memcpy(padded[0], y, count);
    if (!kGrey) std::memcpy(padded[1], cb, count);
    if (!kGrey) std::memcpy(padded[2], cr, count);
    color_pixels<Store, kColors>(color, padded[0], padded[1], padded[2], to, 0);
    for (std::size_t slot = 0; slot < 3; ++slot) std::memcpy(out[slot], results[slot], count * sizeof(Element));
    return;
  }
  for (std::size_t at = 0; at < count; at += kPlanarLanes) {
    at = at + kPlanarLanes <= count ? at : count - kPlanarLanes;  // the last vector overlaps the one before it
    color_pixels<Store, kColors>(color, y + at, kGrey ? y : cb + at, kGrey ? y : cr + at, out, at);
  }
}

template <class Store>
HWY_INLINE void color_row_as(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                             const PlanarColorSlots& slots, std::uint8_t* const* out) {
  if (cb == nullptr) return color_row<Store, PlanarColors::kGrey>(y, cb, cr, count, slots, out);
  if (STOKER_PLANAR_FUSED && slots.ordered)
    return color_row<Store, PlanarColors::kOrdered>(y, cb, cr, count, slots, out);
  color_row<Store, PlanarColors::kAny>(y, cb, cr, count, slots, out);
}

void planar_color(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                  const PlanarColorSlots& slots, DType dtype, std::uint8_t* const* out) {
  switch (dtype) {
    case DType::kF32: return color_row_as<StoreF32>(y, cb, cr, count, slots, out);
    case DType::kF16: return color_row_as<StoreF16>(y, cb, cr, count, slots, out);
    case DType::kBF16: return color_row_as<StoreBF16>(y, cb, cr, count, slots, out);
    case DType::kU8: return color_row_as<StoreU8>(y, cb, cr, count, slots, out);
    default: return;  // no image is stored so; PlanarWriter refuses it
  }
}

template <typename Element>
HWY_INLINE void interleave_elements(const std::uint8_t* const* rows, std::size_t count, std::uint8_t* out_bytes) {
  const hn::Repartition<Element, Bytes8> d;
  const auto* slot0 = reinterpret_cast<const Element*>(rows[0]);
  const auto* slot1 = reinterpret_cast<const Element*>(rows[1]);
  const auto* slot2 = reinterpret_cast<const Element*>(rows[2]);
  auto* out = reinterpret_cast<Element*>(out_bytes);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreInterleaved3(hn::LoadU(d, slot0 + i), hn::LoadU(d, slot1 + i), hn::LoadU(d, slot2 + i), d, out + 3 * i);
  }
  for (; i < count; ++i) {
    out[3 * i] = slot0[i];
    out[3 * i + 1] = slot1[i];
    out[3 * i + 2] = slot2[i];
  }
}

void planar_interleave(const std::uint8_t* const* rows, std::size_t count, std::size_t element_size,
                       std::uint8_t* out) {
  switch (element_size) {
    case 1: return interleave_elements<std::uint8_t>(rows, count, out);
    case 2: return interleave_elements<std::uint16_t>(rows, count, out);
    default: return interleave_elements<std::uint32_t>(rows, count, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
