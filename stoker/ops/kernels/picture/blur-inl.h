// Both passes of a Gaussian blur.
#if defined(STOKER_OPS_KERNELS_PICTURE_BLUR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_BLUR_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_BLUR_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_BLUR_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stoker/ops/picture/blur_meaning.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using BlurTag = hn::ScalableTag<std::int16_t>;
using BlurVector = hn::Vec<BlurTag>;

// GaussianTaps::weighted().
HWY_INLINE BlurVector blur_weighted(BlurVector pair, BlurVector weight) {
#if HWY_TARGET == HWY_EMU128
  const BlurTag d;
  const hn::RepartitionToWide<BlurTag> d32;
  const hn::Half<BlurTag> half;
  const auto product = [&](auto a, auto b) HWY_ATTR {
    const auto sum = hn::Add(hn::Mul(hn::PromoteTo(d32, a), hn::PromoteTo(d32, b)),
                             hn::Set(d32, 1 << (GaussianTaps::kWeightBits - 1)));
    return hn::DemoteTo(half, hn::ShiftRight<GaussianTaps::kWeightBits>(sum));
  };
  return hn::Combine(d, product(hn::UpperHalf(half, pair), hn::UpperHalf(half, weight)),
                     product(hn::LowerHalf(half, pair), hn::LowerHalf(half, weight)));
#else
  static_assert(GaussianTaps::kWeightBits == 15);
  return hn::MulFixedPoint15(pair, weight);
#endif
}

HWY_INLINE BlurVector blur_widened(const std::uint8_t* from) {
  const BlurTag d;
  const hn::Rebind<std::uint8_t, BlurTag> d8;
  const auto wide = hn::BitCast(d, hn::PromoteTo(hn::RebindToUnsigned<BlurTag>(), hn::LoadU(d8, from)));
  return hn::ShiftLeft<GaussianTaps::kFractionBits>(hn::Sub(wide, hn::Set(d, 128)));
}

// Calls `block(i)` for blocks of so many elements that cover them all, the last one overlapping the one before it, or
// `element(i)` for each of fewer elements than a block has.
template <class Block, class Element>
HWY_INLINE void blur_cover(std::size_t count, std::size_t length, const Block& block, const Element& element) {
  if (count < length) {
    for (std::size_t i = 0; i < count; ++i) element(i);
    return;
  }
  std::size_t i = 0;
  for (; i + length <= count; i += length) block(i);
  if (i < count) block(count - length);
}

inline void blur_widen(const std::uint8_t* HWY_RESTRICT from, std::size_t count, std::int16_t* HWY_RESTRICT to) {
  const BlurTag d;
  blur_cover(
      count, hn::Lanes(d), [&](std::size_t i) HWY_ATTR { hn::StoreU(blur_widened(from + i), d, to + i); },
      [&](std::size_t i) { to[i] = static_cast<std::int16_t>(GaussianTaps::widened(from[i])); });
}

// Weighted sums of what lies around those at `middle`: of the columns at distance k left and right of it.
inline void blur_across(const std::int16_t* HWY_RESTRICT middle, const GaussianTaps& taps, std::size_t count,
                        std::int16_t* HWY_RESTRICT out) {
  const BlurTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto block = [&](std::size_t i) HWY_ATTR {
    const std::int16_t* const at = middle + i;
    const auto first = hn::Set(d, taps.weight[0]);
    const auto middle0 = hn::LoadU(d, at), middle1 = hn::LoadU(d, at + lanes);
    auto sum0 = blur_weighted(hn::Add(middle0, middle0), first), sum1 = blur_weighted(hn::Add(middle1, middle1), first);
    for (std::ptrdiff_t k = 1; k <= taps.radius; ++k) {
      const auto weight = hn::Set(d, taps.weight[k]);
      sum0 = hn::Add(sum0, blur_weighted(hn::Add(hn::LoadU(d, at - k), hn::LoadU(d, at + k)), weight));
      sum1 = hn::Add(sum1, blur_weighted(hn::Add(hn::LoadU(d, at + lanes - k), hn::LoadU(d, at + lanes + k)), weight));
    }
    hn::StoreU(sum0, d, out + i);
    hn::StoreU(sum1, d, out + i + lanes);
  };
  blur_cover(count, 2 * lanes, block, [&](std::size_t i) {
    int sum = 0;
    for (int k = 0; k <= taps.radius; ++k) sum += taps.weighted(k, middle[i - k] + middle[i + k]);
    out[i] = static_cast<std::int16_t>(sum);
  });
}

HWY_INLINE hn::Vec<hn::Rebind<std::uint8_t, BlurTag>> blur_narrowed(BlurVector sum) {
  const BlurTag d;
  const auto rounded =
      hn::ShiftRight<GaussianTaps::kFractionBits>(hn::Add(sum, hn::Set(d, 1 << (GaussianTaps::kFractionBits - 1))));
  return hn::DemoteTo(hn::Rebind<std::uint8_t, BlurTag>(), hn::Add(rounded, hn::Set(d, 128)));
}

// Weighted sums of whole rows: rows[radius - k] and rows[radius + k] lie k above and below the middle one.
inline void blur_down(const std::int16_t* const* rows, const GaussianTaps& taps, std::size_t count,
                      std::uint8_t* HWY_RESTRICT out) {
  const BlurTag d;
  const hn::Rebind<std::uint8_t, BlurTag> d8;
  const std::size_t lanes = hn::Lanes(d);
  const std::int16_t* const* const middle = rows + taps.radius;
  const auto block = [&](std::size_t i) HWY_ATTR {
    const auto first = hn::Set(d, taps.weight[0]);
    const auto middle0 = hn::LoadU(d, middle[0] + i), middle1 = hn::LoadU(d, middle[0] + i + lanes);
    auto sum0 = blur_weighted(hn::Add(middle0, middle0), first), sum1 = blur_weighted(hn::Add(middle1, middle1), first);
    for (std::ptrdiff_t k = 1; k <= taps.radius; ++k) {
      const auto weight = hn::Set(d, taps.weight[k]);
      const std::int16_t *const above = middle[-k] + i, *const below = middle[k] + i;
      sum0 = hn::Add(sum0, blur_weighted(hn::Add(hn::LoadU(d, above), hn::LoadU(d, below)), weight));
      sum1 = hn::Add(sum1, blur_weighted(hn::Add(hn::LoadU(d, above + lanes), hn::LoadU(d, below + lanes)), weight));
    }
    hn::StoreU(blur_narrowed(sum0), d8, out + i);
    hn::StoreU(blur_narrowed(sum1), d8, out + i + lanes);
  };
  blur_cover(count, 2 * lanes, block, [&](std::size_t i) {
    int sum = 0;
    for (int k = 0; k <= taps.radius; ++k) sum += taps.weighted(k, middle[-k][i] + middle[k][i]);
    out[i] = static_cast<std::uint8_t>(GaussianTaps::narrowed(sum));
  });
}

// Rows in pieces, which are widened with what lies left and right of them.
inline void blur_picture_across(const PicturePass& pass) {
  constexpr int kPiece = 1024;
  const GaussianTaps taps = gaussian_taps_of(*pass.steps);
  std::int16_t piece[kPiece + 2 * GaussianTaps::kRadiusMax];
  for (int row = 0; row < 3 * pass.height; ++row) {
    const std::uint8_t* const from = pass.in + std::ptrdiff_t{row} * pass.width;
    std::int16_t* const to = blur_work(pass) + std::ptrdiff_t{row} * pass.width;
    for (int x = 0; x < pass.width; x += kPiece) {
      const int count = std::min(kPiece, pass.width - x), begin = x - taps.radius, end = x + count + taps.radius;
      const int inside = std::max(begin, 0), inside_end = std::min(end, pass.width);
      const auto widen_reflected = [&](int at) {
        piece[at - begin] = static_cast<std::int16_t>(GaussianTaps::widened(from[reflected(at, pass.width)]));
      };
      for (int at = begin; at < inside; ++at) widen_reflected(at);
      blur_widen(from + inside, static_cast<std::size_t>(inside_end - inside), piece + (inside - begin));
      for (int at = inside_end; at < end; ++at) widen_reflected(at);
      blur_across(piece + taps.radius, taps, static_cast<std::size_t>(count), to + x);
    }
  }
}

inline void blur_picture_down(const PicturePass& pass) {
  const GaussianTaps taps = gaussian_taps_of(*pass.steps);
  const std::int16_t* rows[2 * GaussianTaps::kRadiusMax + 1];
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < pass.height; ++y) {
      for (int k = -taps.radius; k <= taps.radius; ++k) {
        rows[taps.radius + k] = blur_work(pass) + pass.index(0, reflected(y + k, pass.height), c);
      }
      blur_down(rows, taps, static_cast<std::size_t>(pass.width), pass.out + pass.index(0, y, c));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
