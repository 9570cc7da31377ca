// Warps. The picture is copied with a border of a pixel or two and its bytes side by side, the fourth one its share
// (WarpValue): so a tap is one load, and none has to be checked.
#if defined(STOKER_OPS_KERNELS_PICTURE_WARP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_WARP_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_WARP_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_WARP_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "stoker/ops/kernels/picture/warp_places-inl.h"
#include "stoker/ops/picture/warp_meaning.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using WarpPixelTag = hn::RebindToUnsigned<WarpFloatTag>;
using WarpPixels = hn::Vec<WarpPixelTag>;
using WarpWordTag = hn::Repartition<std::int16_t, WarpPixelTag>;
using WarpWords = hn::Vec<WarpWordTag>;

// Writes a row between two times `border` pixels: from the lowest byte on R, G, B and 255.
HWY_INLINE void copy_row(const PicturePass& pass, int y, std::size_t border, std::uint32_t* to) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto width = static_cast<std::size_t>(pass.in_width), lanes = hn::Lanes(d);
  const std::uint8_t* const row[] = {pass.in + pass.in_index(0, y, 0), pass.in + pass.in_index(0, y, 1),
                                     pass.in + pass.in_index(0, y, 2)};
  auto* const bytes = reinterpret_cast<std::uint8_t*>(to + border);
  std::size_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    hn::StoreInterleaved4(hn::LoadU(d, row[0] + x), hn::LoadU(d, row[1] + x), hn::LoadU(d, row[2] + x), hn::Set(d, 255),
                          d, bytes + 4 * x);
  }
  for (; x < width; ++x) {
    for (std::size_t c = 0; c < 3; ++c) bytes[4 * x + c] = row[c][x];
    bytes[4 * x + 3] = 255;
  }
}

// The picture with a border of this colour, one pixel wide.
void copy_with_border(const PicturePass& pass, std::uint32_t color, std::uint32_t* to) {
  const std::size_t stride = static_cast<std::size_t>(pass.in_width) + 2;
  to = std::fill_n(to, stride, color);
  for (int y = 0; y < pass.in_height; ++y, to += stride) {
    copy_row(pass, y, 1, to);
    to[0] = to[stride - 1] = color;
  }
  std::fill_n(to, stride, color);
}

// The picture with its outermost pixels repeated twice.
void copy_with_repeats(const PicturePass& pass, std::uint32_t* to) {
  constexpr std::size_t kBorder = 2;
  const std::size_t width = static_cast<std::size_t>(pass.in_width), stride = width + 2 * kBorder;
  std::uint32_t* row = to + kBorder * stride;
  for (int y = 0; y < pass.in_height; ++y, row += stride) {
    copy_row(pass, y, kBorder, row);
    std::fill_n(row, kBorder, row[kBorder]);
    std::fill_n(row + kBorder + width, kBorder, row[kBorder + width - 1]);
  }
  for (std::size_t i = 0; i < kBorder; ++i) {
    std::copy_n(to + kBorder * stride, stride, to + i * stride);
    std::copy_n(row - stride, stride, row + i * stride);
  }
}

// Bytes 0 and 2 of each pixel, or 1 and 3, as values of WarpValue::kBits more bits.
HWY_INLINE WarpWords even_values(WarpPixels pixels) {
  const WarpPixelTag d;
  return hn::BitCast(WarpWordTag(), hn::ShiftLeft<WarpValue::kBits>(hn::And(pixels, hn::Set(d, 0x00FF00FF))));
}
HWY_INLINE WarpWords odd_values(WarpPixels pixels) { return even_values(hn::ShiftRight<8>(pixels)); }

HWY_INLINE WarpWords interpolated_words(WarpWords a, WarpWords b, WarpWords f) {
  return hn::Add(a, hn::MulFixedPoint15(hn::Sub(b, a), f));
}

// The lower 16 bits of each pixel, twice.
HWY_INLINE WarpWords both_halves(WarpPixels value) {
  return hn::BitCast(WarpWordTag(), hn::Or(value, hn::ShiftLeft<16>(value)));
}

// Two values of WarpWords to bytes of pixels, the share being lost.
HWY_INLINE WarpPixels rounded_pixels(WarpWords even, WarpWords odd) {
  const WarpPixelTag d;
  const auto half = hn::Set(WarpWordTag(), 1 << (WarpValue::kBits - 1));
  const auto low = hn::BitCast(d, hn::ShiftRight<WarpValue::kBits>(hn::Add(even, half)));
  const auto high = hn::BitCast(d, hn::ShiftRight<WarpValue::kBits>(hn::Add(odd, half)));
  return hn::Or(low, hn::ShiftLeft<8>(high));
}

// The pixels around each of a vector of places, as they are loaded: those of the even places, then the odd ones', and
// of each place the left one, then the right one.
struct WarpTaps {
  static constexpr std::size_t kMost = kWarpChunk / 2;
  alignas(64) std::uint64_t top[2][kMost], bottom[2][kMost];

  void load(const std::uint32_t* pixels, std::size_t stride, const std::uint32_t* offset, std::size_t count) {
    constexpr std::size_t kPair = sizeof(std::uint64_t);
    for (std::size_t i = 0; i < count; i += 2) {  // an odd count's last partner is within the chunk
      const std::uint32_t *const even = pixels + offset[i], *const odd = pixels + offset[i + 1];
      hwy::CopyBytes<kPair>(even, &top[0][i / 2]);
      hwy::CopyBytes<kPair>(odd, &top[1][i / 2]);
      hwy::CopyBytes<kPair>(even + stride, &bottom[0][i / 2]);
      hwy::CopyBytes<kPair>(odd + stride, &bottom[1][i / 2]);
    }
  }
};

struct WarpPair {
  WarpPixels left, right;
};
HWY_INLINE WarpPair pairs_at(const std::uint64_t (&taps)[2][WarpTaps::kMost], std::size_t i) {
  const WarpPixelTag d;
  const hn::Repartition<std::uint64_t, WarpPixelTag> d64;
  const auto even = hn::Load(d64, taps[0] + i / 2), odd = hn::Load(d64, taps[1] + i / 2);
  return {hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even)),
          hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)))};
}

// `fill` is a pixel.
void blend_chunk(const WarpTaps& taps, const WarpChunk& chunk, std::uint32_t fill, std::uint32_t* out) {
  const WarpPixelTag d;
  const auto fill_even = even_values(hn::Set(d, fill)), fill_odd = odd_values(hn::Set(d, fill));
  for (std::size_t i = 0; i < chunk.count; i += hn::Lanes(d)) {
    const WarpPair top = pairs_at(taps.top, i), bottom = pairs_at(taps.bottom, i);
    const auto parts = hn::Load(d, chunk.parts + i);
    const auto part_x = both_halves(hn::And(parts, hn::Set(d, 0xFFFF)));
    const auto part_y = both_halves(hn::ShiftRight<16>(parts));
    auto even =
        interpolated_words(interpolated_words(even_values(top.left), even_values(top.right), part_x),
                           interpolated_words(even_values(bottom.left), even_values(bottom.right), part_x), part_y);
    auto odd =
        interpolated_words(interpolated_words(odd_values(top.left), odd_values(top.right), part_x),
                           interpolated_words(odd_values(bottom.left), odd_values(bottom.right), part_x), part_y);
    const auto share = hn::ShiftRight<16>(hn::BitCast(d, odd));
    if (!hn::AllTrue(d, hn::Eq(share, hn::Set(d, WarpValue::kAll)))) {
      const auto share15 = both_halves(hn::Add(hn::Add(share, share), hn::ShiftRight<7>(share)));
      even = interpolated_words(fill_even, even, share15);
      odd = interpolated_words(fill_odd, odd, share15);
    }
    hn::Store(rounded_pixels(even, odd), d, out + i);
  }
}

// Weights of a cubic, in both halves of each lane.
struct CubicWeights {
  alignas(64) std::uint32_t of[4][kWarpChunk];

  // `shift` is that of the axis's parts.
  template <int kShift>
  void find(const WarpChunk& chunk) {
    const WarpFloatTag df;
    const WarpIntegerTag di;
    const auto one = hn::Set(df, 1.0f), two = hn::Set(df, 2.0f);
    for (std::size_t i = 0; i < chunk.count; i += hn::Lanes(df)) {
      const auto parts = hn::ShiftRight<kShift>(hn::Load(di, reinterpret_cast<const std::int32_t*>(chunk.parts + i)));
      const auto part = hn::ConvertTo(df, hn::And(parts, hn::Set(di, WarpPlace::kOne - 1)));
      const auto t = hn::Mul(part, hn::Set(df, 1.0f / WarpPlace::kOne)), t2 = hn::Mul(t, t);
      store(hn::Mul(t, hn::Sub(hn::Mul(t, hn::Sub(two, t)), one)), of[0] + i);
      store(hn::Add(hn::Mul(t2, hn::Sub(t, two)), one), of[1] + i);
      store(hn::Mul(t, hn::Add(hn::Mul(t, hn::Sub(one, t)), one)), of[2] + i);
      store(hn::Mul(t2, hn::Sub(t, one)), of[3] + i);
    }
  }

  HWY_INLINE WarpWords at(std::size_t tap, std::size_t i) const {
    return hn::BitCast(WarpWordTag(), hn::Load(WarpPixelTag(), of[tap] + i));
  }

 private:
  static HWY_INLINE void store(WarpFloats weight, std::uint32_t* to) {
    const WarpFloatTag df;
    const WarpIntegerTag di;
    const WarpPixelTag d;
    const auto scaled = hn::Add(hn::Mul(weight, hn::Set(df, float{WarpPlace::kOne})), hn::Set(df, 0.5f));
    const auto fixed = hn::Min(hn::ConvertTo(di, hn::Floor(scaled)), hn::Set(di, WarpPlace::kOne - 1));
    const auto half = hn::And(hn::BitCast(d, fixed), hn::Set(d, 0xFFFF));
    hn::Store(hn::Or(half, hn::ShiftLeft<16>(half)), d, to);
  }
};

// What rows of taps add up to so far, of the even and the odd bytes.
struct CubicSums {
  alignas(64) std::int16_t even[2 * kWarpChunk], odd[2 * kWarpChunk];
};

HWY_INLINE WarpWords weighted_row(WarpWords a, WarpWords b, WarpWords c, WarpWords d, const CubicWeights& weights,
                                  std::size_t i) {
  const auto first = hn::Add(hn::MulFixedPoint15(a, weights.at(0, i)), hn::MulFixedPoint15(b, weights.at(1, i)));
  const auto last = hn::Add(hn::MulFixedPoint15(c, weights.at(2, i)), hn::MulFixedPoint15(d, weights.at(3, i)));
  return hn::Add(first, last);  // integers: in any order
}

// Adds two rows of taps, the first of which has this number. `left` and `right` are two columns each.
void add_cubic_rows(const WarpTaps& left, const WarpTaps& right, std::size_t row, const CubicWeights& weights_x,
                    const CubicWeights& weights_y, std::size_t count, CubicSums& sums) {
  const WarpWordTag d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(WarpPixelTag())) {
    const WarpPair top[] = {pairs_at(left.top, i), pairs_at(right.top, i)};
    const WarpPair bottom[] = {pairs_at(left.bottom, i), pairs_at(right.bottom, i)};
    const auto weight_top = weights_y.at(row, i), weight_bottom = weights_y.at(row + 1, i);
    const auto even_top = weighted_row(even_values(top[0].left), even_values(top[0].right), even_values(top[1].left),
                                       even_values(top[1].right), weights_x, i);
    const auto even_bottom = weighted_row(even_values(bottom[0].left), even_values(bottom[0].right),
                                          even_values(bottom[1].left), even_values(bottom[1].right), weights_x, i);
    const auto odd_top = weighted_row(odd_values(top[0].left), odd_values(top[0].right), odd_values(top[1].left),
                                      odd_values(top[1].right), weights_x, i);
    const auto odd_bottom = weighted_row(odd_values(bottom[0].left), odd_values(bottom[0].right),
                                         odd_values(bottom[1].left), odd_values(bottom[1].right), weights_x, i);
    auto even = hn::Add(hn::MulFixedPoint15(even_top, weight_top), hn::MulFixedPoint15(even_bottom, weight_bottom));
    auto odd = hn::Add(hn::MulFixedPoint15(odd_top, weight_top), hn::MulFixedPoint15(odd_bottom, weight_bottom));
    if (row > 0) {
      even = hn::Add(even, hn::Load(d, sums.even + 2 * i));
      odd = hn::Add(odd, hn::Load(d, sums.odd + 2 * i));
    }
    hn::Store(even, d, sums.even + 2 * i);
    hn::Store(odd, d, sums.odd + 2 * i);
  }
}

void round_cubic(const CubicSums& sums, const WarpChunk& chunk, std::uint32_t fill, std::uint32_t* out) {
  const WarpWordTag d16;
  const WarpPixelTag d;
  const auto clamped = [&](const std::int16_t* values) HWY_ATTR {
    return hn::Min(hn::Max(hn::Load(d16, values), hn::Zero(d16)), hn::Set(d16, WarpValue::kAll));
  };
  for (std::size_t i = 0; i < chunk.count; i += hn::Lanes(d)) {
    const auto value = rounded_pixels(clamped(sums.even + 2 * i), clamped(sums.odd + 2 * i));
    const auto outside = hn::And(hn::Load(d, chunk.parts + i), hn::Set(d, WarpChunk::kOutside));
    hn::Store(hn::IfThenElse(hn::Eq(outside, hn::Zero(d)), value, hn::Set(d, fill)), d, out + i);
  }
}

// `stride` is that of the copy.
void cubic_chunk(const std::uint32_t* pixels, std::size_t stride, const WarpChunk& chunk, std::uint32_t fill,
                 std::uint32_t* out) {
  CubicWeights weights_x, weights_y;
  weights_x.find<0>(chunk);
  weights_y.find<16>(chunk);
  CubicSums sums;
  WarpTaps left, right;
  for (std::size_t row = 0; row < 4; row += 2) {
    left.load(pixels + row * stride, stride, chunk.offset, chunk.count);
    right.load(pixels + row * stride + 2, stride, chunk.offset, chunk.count);
    add_cubic_rows(left, right, row, weights_x, weights_y, chunk.count, sums);
  }
  round_cubic(sums, chunk, fill, out);
}

HWY_INLINE void pick_chunk(const std::uint32_t* pixels, const WarpChunk& chunk, std::uint32_t* out) {
  for (std::size_t i = 0; i < chunk.count; ++i) out[i] = pixels[chunk.offset[i]];
}

// Pixels to planes. Reads whole vectors, and writes `count` bytes of each plane.
void split_chunk(const std::uint32_t* pixels, std::size_t count, const PicturePass& pass, int x, int y) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::uint8_t* const to[] = {pass.out + pass.index(x, y, 0), pass.out + pass.index(x, y, 1),
                              pass.out + pass.index(x, y, 2)};
  for (std::size_t i = 0; i < count; i += lanes) {
    hn::Vec<decltype(d)> plane[3], share;
    hn::LoadInterleaved4(d, reinterpret_cast<const std::uint8_t*>(pixels + i), plane[0], plane[1], plane[2], share);
    for (std::size_t c = 0; c < 3; ++c) {
      if (i + lanes <= count) {
        hn::StoreU(plane[c], d, to[c] + i);
      } else {
        alignas(64) std::uint8_t bytes[hn::MaxLanes(d)];
        hn::Store(plane[c], d, bytes);
        std::memcpy(to[c] + i, bytes, count - i);
      }
    }
  }
}

template <class Places>
void warp_by(const PicturePass& pass, Places& places) {
  const WarpFilter filter = WarpStep::filter(*pass.steps);
  std::uint32_t fill = 0;
  for (int c = 0; c < 3; ++c) fill |= static_cast<std::uint32_t>(pass.steps->n[WarpStep::kFill + c]) << (8 * c);
  auto* const pixels = reinterpret_cast<std::uint32_t*>(pass.scratch);
  if (filter == WarpFilter::kBicubic) {
    copy_with_repeats(pass, pixels);
  } else {
    const std::uint32_t border = WarpStep::fills_around(*pass.steps) ? fill | 0xFF000000 : 0;
    copy_with_border(pass, filter == WarpFilter::kNearest ? fill : border, pixels);
  }

  const auto stride = static_cast<std::size_t>(pass.in_width + 2 * warp_border(filter));
  WarpChunk chunk;
  WarpTaps taps;
  alignas(64) std::uint32_t warped[kWarpChunk];
  for (int y = 0; y < pass.height; ++y) {
    places.start_row(y);
    for (int x = 0; x < pass.width; x += kWarpChunk) {
      chunk.count = static_cast<std::size_t>(std::min(kWarpChunk, pass.width - x));
      places.find(x, filter, chunk);
      if (filter == WarpFilter::kNearest) {
        pick_chunk(pixels, chunk, warped);
      } else if (filter == WarpFilter::kBilinear) {
        taps.load(pixels, stride, chunk.offset, chunk.count);
        blend_chunk(taps, chunk, fill, warped);
      } else {
        cubic_chunk(pixels, stride, chunk, fill, warped);
      }
      split_chunk(warped, chunk.count, pass, x, y);
    }
  }
}

void warp_picture(const PicturePass& pass) {
  MatrixPlaces places(pass);
  warp_by(pass, places);
}

void deform_picture(const PicturePass& pass) {
  ElasticPlaces places(pass);
  warp_by(pass, places);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
