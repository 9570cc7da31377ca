// Steps that reproduce torchvision's, in the order of operations of torchvision_meaning.h.
#if defined(STOKER_OPS_KERNELS_PICTURE_TORCHVISION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_TORCHVISION_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_TORCHVISION_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_TORCHVISION_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstring>

#include "stoker/ops/kernels/picture/linear-inl.h"
#include "stoker/ops/picture/picture_meaning.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The colours of a vector of pixels.
struct TorchvisionColors {
  LinearVector r, g, b;
};

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
constexpr bool kFuses = true;
#else
constexpr bool kFuses = false;
#endif

// a * b + c, rounded once. In double precision the product is exact, and so is the sum where fuses_exactly() says so.
HWY_INLINE LinearVector fused_floats(LinearVector a, LinearVector b, LinearVector c) {
  if constexpr (kFuses) return hn::MulAdd(a, b, c);
  const LinearTag d;
  const hn::Repartition<double, LinearTag> d64;
  const hn::Half<LinearTag> half;
  const auto sum = [&](auto x, auto y, auto z) HWY_ATTR {
    return hn::DemoteTo(half, hn::Add(hn::Mul(hn::PromoteTo(d64, x), hn::PromoteTo(d64, y)), hn::PromoteTo(d64, z)));
  };
  return hn::Combine(d, sum(hn::UpperHalf(half, a), hn::UpperHalf(half, b), hn::UpperHalf(half, c)),
                     sum(hn::LowerHalf(half, a), hn::LowerHalf(half, b), hn::LowerHalf(half, c)));
}

// Whether fused_floats() is exact with these factors: products with bytes, of which the smallest bit and the largest
// sum are less than 53 bits apart.
HWY_INLINE bool fuses_exactly(const PictureStep& step) {
  const auto is_plain = [](float factor) { return factor == 0 || std::abs(factor) >= 0x1p-8f; };
  return kFuses || (is_plain(step.f[0]) && is_plain(step.f[1]));
}

HWY_INLINE LinearVector cut(LinearVector value) {
  return hn::ConvertTo(LinearTag(), hn::ConvertTo(hn::Rebind<std::int32_t, LinearTag>(), value));
}

HWY_INLINE LinearVector grey_floats(const TorchvisionColors& colors) {
  const LinearTag d;
  const auto red = hn::Mul(colors.r, hn::Set(d, 0.2989f));
  const auto green = fused_floats(colors.g, hn::Set(d, 0.587f), red);
  return cut(fused_floats(colors.b, hn::Set(d, 0.114f), green));
}

HWY_INLINE void store_cut(LinearVector value, std::uint8_t* to) {
  const hn::Rebind<std::uint8_t, LinearTag> d8;
  hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(hn::Rebind<std::int32_t, LinearTag>(), clamped(value))), d8, to);
}

/// `map` turns colours into colours, which are cut to bytes.
template <class Map>
HWY_INLINE void map_colors(const PicturePass& pass, const Map& map) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(LinearTag()));
  const std::ptrdiff_t pixels = pass.pixels();
  const auto block = [&](const std::uint8_t* in, std::ptrdiff_t in_stride, std::uint8_t* out,
                         std::ptrdiff_t out_stride) HWY_ATTR {
    const TorchvisionColors colors =
        map(TorchvisionColors{load_linear(in), load_linear(in + in_stride), load_linear(in + 2 * in_stride)});
    store_cut(colors.r, out);
    store_cut(colors.g, out + out_stride);
    store_cut(colors.b, out + 2 * out_stride);
  };
  std::ptrdiff_t i = 0;
  for (; i + lanes <= pixels; i += lanes) block(pass.in + i, pixels, pass.out + i, pixels);
  if (i == pixels) return;
  constexpr std::ptrdiff_t kMost = hn::MaxLanes(LinearTag());
  std::uint8_t rest[3 * kMost] = {};
  const auto left = static_cast<std::size_t>(pixels - i);
  for (int c = 0; c < 3; ++c) std::memcpy(rest + c * kMost, pass.in + c * pixels + i, left);
  block(rest, kMost, rest, kMost);
  for (int c = 0; c < 3; ++c) std::memcpy(pass.out + c * pixels + i, rest + c * kMost, left);
}

void torchvision_saturation(const PicturePass& pass) {
  if (!fuses_exactly(*pass.steps)) return compute_units(pass);
  const LinearTag d;
  const auto factor = hn::Set(d, pass.steps->f[0]), rest = hn::Set(d, pass.steps->f[1]);
  map_colors(pass, [=](const TorchvisionColors& in) HWY_ATTR {
    const LinearVector grey = grey_floats(in);
    return TorchvisionColors{fused_floats(grey, rest, hn::Mul(in.r, factor)),
                             fused_floats(grey, rest, hn::Mul(in.g, factor)),
                             fused_floats(grey, rest, hn::Mul(in.b, factor))};
  });
}

void torchvision_grayscale(const PicturePass& pass) {
  map_colors(pass, [](const TorchvisionColors& in) HWY_ATTR {
    const LinearVector grey = grey_floats(in);
    return TorchvisionColors{grey, grey, grey};
  });
}

HWY_INLINE TorchvisionColors hue_shifted(const TorchvisionColors& in, LinearVector shift) {
  const LinearTag d;
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0f), unit = hn::Set(d, static_cast<float>(1.0 / 255));
  const auto r = hn::Mul(in.r, unit), g = hn::Mul(in.g, unit), b = hn::Mul(in.b, unit);
  const auto most = hn::Max(hn::Max(r, g), b), range = hn::Sub(most, hn::Min(hn::Min(r, g), b));
  const auto grey = hn::Eq(range, zero);
  const auto divisor = hn::IfThenElse(grey, one, range);
  const auto saturation = hn::Div(range, hn::IfThenElse(grey, one, most));
  const auto from_r = hn::Div(hn::Sub(most, r), divisor), from_g = hn::Div(hn::Sub(most, g), divisor);
  const auto from_b = hn::Div(hn::Sub(most, b), divisor);
  const auto of_green = hn::Sub(hn::Add(from_r, hn::Set(d, 2.0f)), from_b);
  const auto of_blue = hn::Sub(hn::Add(from_g, hn::Set(d, 4.0f)), from_r);
  auto hue =
      hn::IfThenElse(hn::Eq(most, r), hn::Sub(from_b, from_g), hn::IfThenElse(hn::Eq(most, g), of_green, of_blue));
  const auto below_one = [&](LinearVector v) HWY_ATTR { return hn::IfThenElse(hn::Ge(v, one), hn::Sub(v, one), v); };
  hue = below_one(hn::Add(hn::Mul(hue, hn::Set(d, static_cast<float>(1.0 / 6))), one));
  const auto moved = hn::Add(hue, shift);
  hue = hn::IfThenElse(hn::Lt(moved, zero), hn::Add(moved, one), below_one(moved));
  const auto sixths = hn::Mul(hue, hn::Set(d, 6.0f)), sixth = cut(sixths);
  const auto rest = hn::Mul(saturation, hn::Sub(sixths, sixth)), unsaturated = hn::Sub(one, saturation);
  const auto within = [&](LinearVector v) HWY_ATTR { return hn::Min(hn::Max(v, zero), one); };
  const auto q = within(hn::Mul(hn::Sub(one, rest), most)), t = within(hn::Mul(hn::Add(rest, unsaturated), most));
  const auto p = within(hn::Mul(unsaturated, most));
  const auto is = [&](float value) HWY_ATTR { return hn::Eq(sixth, hn::Set(d, value)); };
  const auto is1 = is(1), is2 = is(2), is3 = is(3), is4 = is(4), is5 = is(5);
  const auto of_byte = hn::Set(d, 255.999f);
  const auto red = hn::IfThenElse(is1, q, hn::IfThenElse(hn::Or(is2, is3), p, hn::IfThenElse(is4, t, most)));
  const auto green =
      hn::IfThenElse(hn::Or(is1, is2), most, hn::IfThenElse(is3, q, hn::IfThenElse(hn::Or(is4, is5), p, t)));
  const auto blue = hn::IfThenElse(is2, t, hn::IfThenElse(hn::Or(is3, is4), most, hn::IfThenElse(is5, q, p)));
  return {hn::Mul(red, of_byte), hn::Mul(green, of_byte), hn::Mul(blue, of_byte)};
}

void torchvision_shift_hue(const PicturePass& pass) {
  const auto shift = hn::Set(LinearTag(), pass.steps->f[0]);
  map_colors(pass, [shift](const TorchvisionColors& in) HWY_ATTR { return hue_shifted(in, shift); });
}

std::uint64_t sum_of_grey(const std::uint8_t* planes, std::ptrdiff_t pixels) {
  const LinearTag d;
  const hn::Rebind<std::int32_t, LinearTag> d32;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  constexpr std::ptrdiff_t kVectors = 1 << 16;  // whose sums of bytes fit 32 bits
  std::uint64_t total = 0;
  std::ptrdiff_t i = 0;
  while (i + lanes <= pixels) {
    auto sums = hn::Zero(d32);
    for (std::ptrdiff_t k = 0; k < kVectors && i + lanes <= pixels; ++k, i += lanes) {
      const TorchvisionColors colors{load_linear(planes + i), load_linear(planes + pixels + i),
                                     load_linear(planes + 2 * pixels + i)};
      sums = hn::Add(sums, hn::ConvertTo(d32, grey_floats(colors)));
    }
    std::int32_t each[hn::MaxLanes(LinearTag())];
    hn::StoreU(sums, d32, each);
    for (std::ptrdiff_t k = 0; k < lanes; ++k) total += static_cast<std::uint64_t>(each[k]);
  }
  for (; i < pixels; ++i) {
    const std::uint8_t* const rgb = planes + i;
    total += static_cast<std::uint64_t>(torchvision_grey(static_cast<float>(rgb[0]), static_cast<float>(rgb[pixels]),
                                                         static_cast<float>(rgb[2 * pixels])));
  }
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
