// Pictures put aside, taken back and blended.
#if defined(STOKER_OPS_KERNELS_PICTURE_MIXTURE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_MIXTURE_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_MIXTURE_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_MIXTURE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "stoker/ops/kernels/picture/linear-inl.h"
#include "stoker/ops/picture/mixture_meaning.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void keep_picture(const PicturePass& pass) {
  std::memcpy(kept_picture(pass, pass.steps->n[0]), pass.in, static_cast<std::size_t>(3 * pass.pixels()));
}

void recall_picture(const PicturePass& pass) {
  std::memcpy(pass.out, kept_picture(pass, pass.steps->n[0]), static_cast<std::size_t>(3 * pass.pixels()));
}

/// A vector of bytes, cut off: conversions to integers truncate.
HWY_INLINE void store_cut_off(LinearVector value, std::uint8_t* to) {
  const hn::Rebind<std::uint8_t, LinearTag> d8;
  const hn::Rebind<std::int32_t, LinearTag> d32;
  hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(d32, clamped(value))), d8, to);
}

/// `vector` computes a vector of bytes that begins at an index, `one` a single one.
template <class Vector, class One>
HWY_INLINE void for_each_byte(const PicturePass& pass, const Vector& vector, const One& one) {
  const std::ptrdiff_t bytes = 3 * pass.pixels();
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(LinearTag()));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= bytes; i += lanes) store_cut_off(vector(i), pass.out + i);
  for (; i < bytes; ++i) pass.out[i] = one(i);
}

void sum_pictures(const PicturePass& pass) {
  const PictureStep& step = *pass.steps;
  const LinearTag d;
  const int first = step.n[0], count = step.n[1] - first;
  for_each_byte(
      pass,
      [&](std::ptrdiff_t i) HWY_ATTR {
        auto sum = hn::Zero(d);
        for (int k = 0; k < count; ++k) {
          sum = hn::Add(sum, hn::Mul(load_linear(kept_picture(pass, first + k) + i), hn::Set(d, step.f[k])));
        }
        return hn::Add(sum, hn::Mul(load_linear(pass.in + i), hn::Set(d, step.f[count])));
      },
      [&](std::ptrdiff_t i) { return weighted_sum(pass, i); });
}

void move_picture_towards(const PicturePass& pass) {
  const LinearTag d;
  const std::uint8_t* const kept = kept_picture(pass, pass.steps->n[0]);
  const auto part = hn::Set(d, pass.steps->f[0]);
  for_each_byte(
      pass,
      [&](std::ptrdiff_t i) HWY_ATTR {
        const auto from = load_linear(kept + i);
        return hn::Add(from, hn::Mul(part, hn::Sub(load_linear(pass.in + i), from)));
      },
      [&](std::ptrdiff_t i) { return moved_towards(pass, i); });
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
