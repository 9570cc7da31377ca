// Linear runs: the colours of two vectors of pixels stay in registers from the first step of a run to its last.
#if defined(STOKER_OPS_KERNELS_PICTURE_LINEAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_LINEAR_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_LINEAR_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_LINEAR_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "stoker/ops/picture/picture_pass.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LinearTag = hn::ScalableTag<float>;
using LinearVector = hn::Vec<LinearTag>;

/// Colours of two vectors of pixels.
struct LinearColors {
  LinearVector r0, g0, b0, r1, g1, b1;
};

HWY_INLINE LinearVector scaled(LinearVector value, LinearVector scale, LinearVector bias) {
  return hn::Add(hn::Mul(value, scale), bias);  // never fused
}

HWY_INLINE void apply_affine(const PictureStep& step, LinearColors& colors) {
  const LinearTag d;
  const auto scale_r = hn::Set(d, step.f[0]), scale_g = hn::Set(d, step.f[1]), scale_b = hn::Set(d, step.f[2]);
  const auto bias_r = hn::Set(d, step.f[3]), bias_g = hn::Set(d, step.f[4]), bias_b = hn::Set(d, step.f[5]);
  colors = {scaled(colors.r0, scale_r, bias_r), scaled(colors.g0, scale_g, bias_g), scaled(colors.b0, scale_b, bias_b),
            scaled(colors.r1, scale_r, bias_r), scaled(colors.g1, scale_g, bias_g), scaled(colors.b1, scale_b, bias_b)};
}

HWY_INLINE void apply_contrast(const PictureStep& step, float number, LinearColors& colors) {
  const LinearTag d;
  const auto scale = hn::Set(d, step.f[0]), bias = hn::Set(d, number);
  colors = {scaled(colors.r0, scale, bias), scaled(colors.g0, scale, bias), scaled(colors.b0, scale, bias),
            scaled(colors.r1, scale, bias), scaled(colors.g1, scale, bias), scaled(colors.b1, scale, bias)};
}

// The sum of three weighted channels, in the order of the meaning.
HWY_INLINE LinearVector weighed(LinearVector r, LinearVector g, LinearVector b, const float* weights) {
  const LinearTag d;
  const auto sum = hn::Add(hn::Mul(r, hn::Set(d, weights[0])), hn::Mul(g, hn::Set(d, weights[1])));
  return hn::Add(sum, hn::Mul(b, hn::Set(d, weights[2])));
}

HWY_INLINE void apply_saturation(const PictureStep& step, LinearColors& colors) {
  const LinearTag d;
  constexpr float kGrey[] = {0.299f, 0.587f, 0.114f};
  const auto scale = hn::Set(d, step.f[0]), rest = hn::Set(d, step.f[1]);
  const auto grey0 = hn::Mul(weighed(colors.r0, colors.g0, colors.b0, kGrey), rest);
  const auto grey1 = hn::Mul(weighed(colors.r1, colors.g1, colors.b1, kGrey), rest);
  colors = {scaled(colors.r0, scale, grey0), scaled(colors.g0, scale, grey0), scaled(colors.b0, scale, grey0),
            scaled(colors.r1, scale, grey1), scaled(colors.g1, scale, grey1), scaled(colors.b1, scale, grey1)};
}

HWY_INLINE void apply_matrix(const PictureStep& step, LinearColors& colors) {
  const LinearTag d;
  const auto row = [&](LinearVector r, LinearVector g, LinearVector b, int channel) HWY_ATTR {
    return hn::Add(weighed(r, g, b, step.f + 3 * channel), hn::Set(d, step.f[9 + channel]));
  };
  colors = {row(colors.r0, colors.g0, colors.b0, 0), row(colors.r0, colors.g0, colors.b0, 1),
            row(colors.r0, colors.g0, colors.b0, 2), row(colors.r1, colors.g1, colors.b1, 0),
            row(colors.r1, colors.g1, colors.b1, 1), row(colors.r1, colors.g1, colors.b1, 2)};
}

HWY_INLINE LinearVector clamped(LinearVector value) {
  const LinearTag d;
  return hn::Min(hn::Max(value, hn::Zero(d)), hn::Set(d, 255.0f));
}

HWY_INLINE LinearVector load_linear(const std::uint8_t* from) {
  const hn::Rebind<std::int32_t, LinearTag> d32;
  return hn::ConvertTo(LinearTag(), hn::PromoteTo(d32, hn::LoadU(hn::Rebind<std::uint8_t, LinearTag>(), from)));
}

HWY_INLINE void store_linear(LinearVector value, std::uint8_t* to) {
  const hn::Rebind<std::uint8_t, LinearTag> d8;
  hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(value)), d8, to);
}

/// Two vectors of pixels of planes `in_stride` and `out_stride` apart.
HWY_INLINE void run_linear_block(const PicturePass& pass, const std::uint8_t* in, std::ptrdiff_t in_stride,
                                 std::uint8_t* out, std::ptrdiff_t out_stride) {
  const std::size_t lanes = hn::Lanes(LinearTag());
  LinearColors colors{
      load_linear(in),         load_linear(in + in_stride),         load_linear(in + 2 * in_stride),
      load_linear(in + lanes), load_linear(in + in_stride + lanes), load_linear(in + 2 * in_stride + lanes)};
  for (int i = 0; i < pass.count; ++i) {
    const PictureStep& step = pass.steps[i];
    switch (step.kind) {
      case PictureKind::kAffine: apply_affine(step, colors); break;
      case PictureKind::kContrast: apply_contrast(step, pass.facts->number[i], colors); break;
      case PictureKind::kSaturation: apply_saturation(step, colors); break;
      case PictureKind::kMatrix: apply_matrix(step, colors); break;
      default: break;  // of no run
    }
    colors = {clamped(colors.r0), clamped(colors.g0), clamped(colors.b0),
              clamped(colors.r1), clamped(colors.g1), clamped(colors.b1)};
  }
  store_linear(colors.r0, out);
  store_linear(colors.g0, out + out_stride);
  store_linear(colors.b0, out + 2 * out_stride);
  store_linear(colors.r1, out + lanes);
  store_linear(colors.g1, out + out_stride + lanes);
  store_linear(colors.b1, out + 2 * out_stride + lanes);
}

void run_linear(const PicturePass& pass) {
  const std::ptrdiff_t pixels = pass.pixels();
  constexpr std::ptrdiff_t kMost = 2 * hn::MaxLanes(LinearTag());
  const auto block = static_cast<std::ptrdiff_t>(2 * hn::Lanes(LinearTag()));
  std::ptrdiff_t i = 0;
  for (; i + block <= pixels; i += block) run_linear_block(pass, pass.in + i, pixels, pass.out + i, pixels);
  if (i == pixels) return;
  std::uint8_t rest[3 * kMost] = {};
  const auto left = static_cast<std::size_t>(pixels - i);
  for (int c = 0; c < 3; ++c) std::memcpy(rest + c * kMost, pass.in + c * pixels + i, left);
  run_linear_block(pass, rest, kMost, rest, kMost);
  for (int c = 0; c < 3; ++c) std::memcpy(pass.out + c * pixels + i, rest + c * kMost, left);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
