// jpeg_degrade (ops/picture/jpeg_meaning.h): planes first, then the blocks in them, in place.
#if defined(STOKER_OPS_KERNELS_PICTURE_JPEG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_JPEG_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_JPEG_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_JPEG_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stoker/ops/picture/jpeg_meaning.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A row of a block, or half of one.
using JpegTag = hn::CappedTag<std::int32_t, JpegTransform::kSide>;
using JpegVector = hn::Vec<JpegTag>;
using JpegBytes = hn::Rebind<std::uint8_t, JpegTag>;
struct JpegBlock {
  alignas(32) std::int32_t row[JpegTransform::kSide][JpegTransform::kSide];
};

HWY_INLINE JpegVector jpeg_times(JpegVector value, int factor) { return hn::Mul(value, hn::Set(JpegTag(), factor)); }

template <int kShift>
HWY_INLINE JpegVector jpeg_rounded(JpegVector sum) {
  return hn::ShiftRight<kShift>(hn::Add(sum, hn::Set(JpegTag(), 1 << (kShift - 1))));
}

// Four products of coefficients of the matrix.
template <int kFrequency>
HWY_INLINE JpegVector jpeg_sum(const JpegVector (&half)[4]) {
  return hn::Add(hn::Add(jpeg_times(half[0], JpegTransform::matrix(kFrequency, 0)),
                         jpeg_times(half[1], JpegTransform::matrix(kFrequency, 1))),
                 hn::Add(jpeg_times(half[2], JpegTransform::matrix(kFrequency, 2)),
                         jpeg_times(half[3], JpegTransform::matrix(kFrequency, 3))));
}

// JpegTransform::forward().
template <int kShift>
HWY_INLINE void jpeg_forward(JpegBlock& block) {
  const JpegTag d;
  for (std::size_t i = 0; i < JpegTransform::kSide; i += hn::Lanes(d)) {
    JpegVector even[4], odd[4];
    for (std::size_t n = 0; n < 4; ++n) {
      const auto near = hn::Load(d, block.row[n] + i), far = hn::Load(d, block.row[7 - n] + i);
      even[n] = hn::Add(near, far);
      odd[n] = hn::Sub(near, far);
    }
    hn::Store(jpeg_rounded<kShift>(jpeg_sum<0>(even)), d, block.row[0] + i);
    hn::Store(jpeg_rounded<kShift>(jpeg_sum<1>(odd)), d, block.row[1] + i);
    hn::Store(jpeg_rounded<kShift>(jpeg_sum<2>(even)), d, block.row[2] + i);
    hn::Store(jpeg_rounded<kShift>(jpeg_sum<3>(odd)), d, block.row[3] + i);
    hn::Store(jpeg_rounded<kShift>(jpeg_sum<4>(even)), d, block.row[4] + i);
    hn::Store(jpeg_rounded<kShift>(jpeg_sum<5>(odd)), d, block.row[5] + i);
    hn::Store(jpeg_rounded<kShift>(jpeg_sum<6>(even)), d, block.row[6] + i);
    hn::Store(jpeg_rounded<kShift>(jpeg_sum<7>(odd)), d, block.row[7] + i);
  }
}

// JpegTransform::inverse().
template <int kShift>
HWY_INLINE void jpeg_inverse(JpegBlock& block) {
  const JpegTag d;
  for (std::size_t i = 0; i < JpegTransform::kSide; i += hn::Lanes(d)) {
    JpegVector in[8];
    for (std::size_t k = 0; k < 8; ++k) in[k] = hn::Load(d, block.row[k] + i);
    for (int n = 0; n < 4; ++n) {
      const auto term = [&](int k) HWY_ATTR { return jpeg_times(in[k], JpegTransform::matrix(k, n)); };
      const auto even = hn::Add(hn::Add(term(0), term(2)), hn::Add(term(4), term(6)));
      const auto odd = hn::Add(hn::Add(term(1), term(3)), hn::Add(term(5), term(7)));
      hn::Store(jpeg_rounded<kShift>(hn::Add(even, odd)), d, block.row[n] + i);
      hn::Store(jpeg_rounded<kShift>(hn::Sub(even, odd)), d, block.row[7 - n] + i);
    }
  }
}

HWY_INLINE void jpeg_transpose(const JpegBlock& from, JpegBlock& to) {
  for (int n = 0; n < JpegTransform::kSide; ++n) {
    for (int i = 0; i < JpegTransform::kSide; ++i) to.row[i][n] = from.row[n][i];
  }
}

// JpegDivisors::quantized().
HWY_INLINE void jpeg_quantize(JpegBlock& block, const int (&divisors)[8][8]) {
  const JpegTag d;
  const hn::RebindToFloat<JpegTag> df;
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t i = 0; i < 8; i += hn::Lanes(d)) {
      const auto coefficient = hn::Load(d, block.row[row] + i), divisor = hn::LoadU(d, divisors[row] + i);
      const auto sum = hn::Add(hn::Abs(coefficient), hn::ShiftLeft<2>(divisor));
      const auto count =
          hn::ConvertTo(d, hn::Div(hn::ConvertTo(df, sum), hn::ConvertTo(df, hn::ShiftLeft<3>(divisor))));
      const auto magnitude = hn::Mul(count, divisor);
      hn::Store(hn::IfThenElse(hn::Lt(coefficient, hn::Zero(d)), hn::Neg(magnitude), magnitude), d, block.row[row] + i);
    }
  }
}

// The block at `samples` of a plane with rows of `stride` bytes.
HWY_INLINE void jpeg_code_block(std::uint8_t* samples, std::ptrdiff_t stride, const int (&divisors)[8][8]) {
  const JpegTag d;
  const JpegBytes d8;
  const auto center = hn::Set(d, 128);
  JpegBlock block, turned;
  for (int y = 0; y < 8; ++y) {
    for (std::size_t i = 0; i < 8; i += hn::Lanes(d)) {
      hn::Store(hn::Sub(hn::PromoteTo(d, hn::LoadU(d8, samples + y * stride + i)), center), d, block.row[y] + i);
    }
  }
  jpeg_transpose(block, turned);
  jpeg_forward<11>(turned);
  jpeg_transpose(turned, block);
  jpeg_forward<15>(block);
  jpeg_quantize(block, divisors);
  jpeg_inverse<11>(block);
  jpeg_transpose(block, turned);
  jpeg_inverse<18>(turned);
  jpeg_transpose(turned, block);
  for (int y = 0; y < 8; ++y) {
    for (std::size_t i = 0; i < 8; i += hn::Lanes(d)) {
      hn::StoreU(hn::DemoteTo(d8, hn::Add(hn::Load(d, block.row[y] + i), center)), d8, samples + y * stride + i);
    }
  }
}

// jpeg_ycc() of a vector of pixels.
struct JpegWeights {
  int r, g, b, bias;
};
HWY_INLINE JpegVector jpeg_weighted(const std::uint8_t* pixel, std::ptrdiff_t plane, const JpegWeights& weights) {
  const JpegTag d;
  const auto channel = [&](std::ptrdiff_t c)
                           HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(JpegBytes(), pixel + c * plane)); };
  const auto sum = hn::Add(hn::Add(jpeg_times(channel(0), weights.r), jpeg_times(channel(1), weights.g)),
                           hn::Add(jpeg_times(channel(2), weights.b), hn::Set(d, weights.bias)));
  return hn::ShiftRight<16>(sum);
}
constexpr JpegWeights kJpegWeights[3] = {{19595, 38470, 7471, 32768},
                                         {-11059, -21709, 32768, (128 << 16) + 32767},
                                         {32768, -27439, -5329, (128 << 16) + 32767}};

inline void jpeg_fill_luma(const PicturePass& pass, const JpegPlanes& planes) {
  const auto lanes = static_cast<int>(hn::Lanes(JpegTag()));
  for (int y = 0; y < pass.height; ++y) {
    int x = 0;
    for (; x + lanes <= pass.width; x += lanes) {
      const auto luma = jpeg_weighted(pass.in + pass.index(x, y, 0), pass.pixels(), kJpegWeights[0]);
      hn::StoreU(hn::DemoteTo(JpegBytes(), luma), JpegBytes(), &planes.at(0, x, y));
    }
    for (; x < pass.width; ++x) planes.at(0, x, y) = static_cast<std::uint8_t>(jpeg_ycc(pass, x, y, 0));
  }
}

inline void jpeg_fill_chroma(const PicturePass& pass, const JpegPlanes& planes, int c) {
  constexpr int kPiece = 512;  // pixels of a row
  const JpegTag d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  std::int32_t sums[kPiece + 1];  // of two pixels, one below the other
  for (int y = 0; y < planes.height[c]; ++y) {
    const int below = std::min(2 * y + 1, pass.height - 1);
    for (int begin = 0; begin < pass.width; begin += kPiece) {
      const int count = std::min(kPiece, pass.width - begin);
      int x = 0;
      for (; x + lanes <= count; x += lanes) {
        const std::uint8_t* const upper = pass.in + pass.index(begin + x, 2 * y, 0);
        const std::uint8_t* const lower = pass.in + pass.index(begin + x, below, 0);
        hn::StoreU(hn::Add(jpeg_weighted(upper, pass.pixels(), kJpegWeights[c]),
                           jpeg_weighted(lower, pass.pixels(), kJpegWeights[c])),
                   d, sums + x);
      }
      for (; x < count; ++x) {
        sums[x] = jpeg_ycc(pass, begin + x, 2 * y, c) + jpeg_ycc(pass, begin + x, below, c);
      }
      sums[count] = sums[count - 1];  // on the right of the picture
      std::uint8_t* const to = &planes.at(c, begin / 2, y);
      for (int i = 0; 2 * i < count; ++i) {
        to[i] = static_cast<std::uint8_t>((sums[2 * i] + sums[2 * i + 1] + 1 + i % 2) >> 2);
      }
    }
  }
}

inline void jpeg_code_picture(const PicturePass& pass) {
  const JpegDivisors divisors(pass.steps->n[0]);
  const JpegPlanes planes = JpegPlanes::of(pass);
  jpeg_fill_luma(pass, planes);
  for (int c = 1; c < 3; ++c) jpeg_fill_chroma(pass, planes, c);
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < planes.height[c]; y += 8) {
      for (int x = 0; x < planes.width[c]; x += 8) {
        if (x + 8 <= planes.width[c] && y + 8 <= planes.height[c]) {
          jpeg_code_block(&planes.at(c, x, y), planes.width[c], divisors.of[c > 0 ? 1 : 0]);
        } else if (c == 0) {
          jpeg_code_luma(pass, x, y, divisors);
        } else {
          jpeg_code_chroma(pass, c, x, y, divisors);
        }
      }
    }
  }
}

// jpeg_chroma() less 128, for a row of pixels from `begin` on.
inline void jpeg_chroma_row(const JpegPlanes& planes, int c, int y, int begin, int count, std::int32_t* out) {
  const int width = planes.width[c], row = y / 2;
  if (width <= 2) {
    for (int i = 0; i < count; ++i) out[i] = planes.at(c, (begin + i) / 2, row) - 128;
    return;
  }
  const int next = std::clamp(y % 2 == 0 ? row - 1 : row + 1, 0, planes.height[c] - 1);
  const std::uint8_t *const near = &planes.at(c, 0, row), *const other = &planes.at(c, 0, next);
  const auto down = [&](int i) { return 3 * near[i] + other[i]; };
  int left = down(std::max(begin / 2 - 1, 0)), middle = down(begin / 2);
  for (int i = 0; i < count; i += 2) {
    const int right = down(std::min((begin + i) / 2 + 1, width - 1));
    out[i] = ((3 * middle + left + 8) >> 4) - 128;
    out[i + 1] = ((3 * middle + right + 7) >> 4) - 128;
    left = middle;
    middle = right;
  }
}

inline void jpeg_color_picture(const PicturePass& pass) {
  constexpr int kPiece = 512;
  const JpegTag d;
  const JpegBytes d8;
  const JpegPlanes planes = JpegPlanes::of(pass);
  // Pieces have room for a pixel more than they have, and for the rest of a vector.
  constexpr int kRoom = kPiece + JpegTransform::kSide;
  std::int32_t cb[kRoom] = {}, cr[kRoom] = {};
  std::uint8_t luma[kRoom] = {}, made[3][kRoom];
  for (int y = 0; y < pass.height; ++y) {
    for (int begin = 0; begin < pass.width; begin += kPiece) {
      const int count = std::min(kPiece, pass.width - begin);
      jpeg_chroma_row(planes, 1, y, begin, count, cb);
      jpeg_chroma_row(planes, 2, y, begin, count, cr);
      std::copy_n(&planes.at(0, begin, y), count, luma);
      for (int x = 0; x < count; x += static_cast<int>(hn::Lanes(d))) {
        const auto base = hn::PromoteTo(d, hn::LoadU(d8, luma + x));
        const auto blue = hn::LoadU(d, cb + x), red = hn::LoadU(d, cr + x);
        const auto store = [&](int c, JpegVector change) HWY_ATTR {
          hn::StoreU(hn::DemoteTo(d8, hn::Add(base, jpeg_rounded<16>(change))), d8, made[c] + x);
        };
        store(0, jpeg_times(red, 91881));
        store(1, hn::Sub(jpeg_times(blue, -22554), jpeg_times(red, 46802)));
        store(2, jpeg_times(blue, 116130));
      }
      for (int c = 0; c < 3; ++c) std::copy_n(made[c], count, pass.out + pass.index(begin, y, c));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
