// Warps. The picture is copied with a border of one pixel and its four bytes side by side, the last one its share
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

// Writes (width + 2) x (height + 2) pixels at `to`, from the lowest byte on R, G, B and 255, or `border`.
void copy_with_border(const PicturePass& pass, std::uint32_t border, std::uint32_t* to) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto width = static_cast<std::size_t>(pass.width), lanes = hn::Lanes(d);
  to = std::fill_n(to, width + 2, border);
  for (int y = 0; y < pass.height; ++y) {
    const std::uint8_t* const row[] = {pass.in + pass.index(0, y, 0), pass.in + pass.index(0, y, 1),
                                       pass.in + pass.index(0, y, 2)};
    *to++ = border;
    auto* const bytes = reinterpret_cast<std::uint8_t*>(to);
    std::size_t x = 0;
    for (; x + lanes <= width; x += lanes) {
      hn::StoreInterleaved4(hn::LoadU(d, row[0] + x), hn::LoadU(d, row[1] + x), hn::LoadU(d, row[2] + x),
                            hn::Set(d, 255), d, bytes + 4 * x);
    }
    for (; x < width; ++x) {
      for (std::size_t c = 0; c < 3; ++c) bytes[4 * x + c] = row[c][x];
      bytes[4 * x + 3] = 255;
    }
    to += width;
    *to++ = border;
  }
  std::fill_n(to, width + 2, border);
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
  const bool nearest = WarpStep::filter(*pass.steps) == WarpFilter::kNearest;
  std::uint32_t fill = 0;
  for (int c = 0; c < 3; ++c) fill |= static_cast<std::uint32_t>(pass.steps->n[WarpStep::kFill + c]) << (8 * c);
  auto* const pixels = reinterpret_cast<std::uint32_t*>(pass.scratch);
  copy_with_border(pass, nearest ? fill : 0, pixels);

  const std::size_t stride = static_cast<std::size_t>(pass.width) + 2;
  WarpChunk chunk;
  WarpTaps taps;
  alignas(64) std::uint32_t warped[kWarpChunk];
  for (int y = 0; y < pass.height; ++y) {
    places.start_row(y);
    for (int x = 0; x < pass.width; x += kWarpChunk) {
      chunk.count = static_cast<std::size_t>(std::min(kWarpChunk, pass.width - x));
      places.find(x, nearest, chunk);
      if (nearest) {
        pick_chunk(pixels, chunk, warped);
      } else {
        taps.load(pixels, stride, chunk.offset, chunk.count);
        blend_chunk(taps, chunk, fill, warped);
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
