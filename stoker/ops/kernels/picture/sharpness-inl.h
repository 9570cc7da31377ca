// Sharpness, in rows of one plane.
#if defined(STOKER_OPS_KERNELS_PICTURE_SHARPNESS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_SHARPNESS_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_SHARPNESS_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_SHARPNESS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "stoker/ops/picture/sharpness_meaning.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using SharpTag = hn::ScalableTag<std::int32_t>;
using SharpBytes = hn::Rebind<std::uint8_t, SharpTag>;
using SharpWords = hn::Rebind<std::int16_t, SharpTag>;

HWY_INLINE hn::Vec<SharpWords> sharp_words(const std::uint8_t* from) {
  return hn::PromoteTo(SharpWords(), hn::LoadU(SharpBytes(), from));
}

HWY_INLINE hn::Vec<SharpWords> sharp_column(const std::uint8_t* at, std::ptrdiff_t stride) {
  return hn::Add(hn::Add(sharp_words(at - stride), sharp_words(at)), sharp_words(at + stride));
}

// A vector of pixels that have all their neighbours.
HWY_INLINE void sharpen(const std::uint8_t* at, std::ptrdiff_t stride, hn::Vec<hn::Rebind<float, SharpTag>> share,
                        std::uint8_t* out) {
  const SharpTag d;
  const hn::Rebind<float, SharpTag> df;
  const auto value = sharp_words(at);
  const auto columns =
      hn::Add(hn::Add(sharp_column(at - 1, stride), sharp_column(at, stride)), sharp_column(at + 1, stride));
  const auto sum = hn::PromoteTo(d, hn::Add(columns, hn::ShiftLeft<2>(value)));
  // Divided by 13: right for all sums up to 43,690.
  const auto smooth = hn::ShiftRight<16>(hn::Mul(hn::Add(sum, hn::Set(d, 6)), hn::Set(d, 5042)));
  const auto before = hn::PromoteTo(d, value);
  const auto change = hn::Mul(share, hn::ConvertTo(df, hn::Sub(smooth, before)));
  const auto blended = hn::Add(hn::ConvertTo(df, before), change);
  const auto clamped = hn::Min(hn::Max(blended, hn::Zero(df)), hn::Set(df, 255.0f));
  hn::StoreU(hn::DemoteTo(SharpBytes(), hn::ConvertTo(d, clamped)), SharpBytes(), out);
}

void sharpen_picture(const PicturePass& pass) {
  const hn::Rebind<float, SharpTag> df;
  const auto share = hn::Set(df, pass.steps->f[0]);
  const int lanes = static_cast<int>(hn::Lanes(SharpTag()));
  const std::ptrdiff_t stride = pass.width;
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < pass.height; ++y) {
      const std::uint8_t* const from = pass.in + pass.index(0, y, c);
      std::uint8_t* const to = pass.out + pass.index(0, y, c);
      const bool border = y == 0 || y == pass.height - 1;
      if (border || pass.width - 2 < lanes) {
        std::memcpy(to, from, static_cast<std::size_t>(pass.width));
        if (border) continue;
        for (int x = 1; x < pass.width - 1; ++x) sharpness_value(pass, x, y, c);
        continue;
      }
      to[0] = from[0];
      to[stride - 1] = from[stride - 1];
      int x = 1;
      for (; x + lanes <= pass.width - 1; x += lanes) sharpen(from + x, stride, share, to + x);
      if (x < pass.width - 1) sharpen(from + pass.width - 1 - lanes, stride, share, to + pass.width - 1 - lanes);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
