// Where the pixels of a row lie in the input of a warp, many at a time. warp_meaning.h says what is computed here, in
// the same order.
#if defined(STOKER_OPS_KERNELS_PICTURE_WARP_PLACES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_WARP_PLACES_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_WARP_PLACES_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_WARP_PLACES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "stoker/ops/picture/warp.h"
#include "stoker/ops/picture/warp_meaning.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using WarpFloatTag = hn::ScalableTag<float>;
using WarpFloats = hn::Vec<WarpFloatTag>;
using WarpIntegerTag = hn::RebindToSigned<WarpFloatTag>;
using WarpIntegers = hn::Vec<WarpIntegerTag>;

// Pixels whose places are found before the first of them is fetched: the fetches do not wait for each other then, and
// what is stored by halves has left the store buffers when it is loaded as vectors.
constexpr int kWarpChunk = 256;

// How far taps reach beyond the picture.
HWY_INLINE int warp_border(WarpFilter filter) { return filter == WarpFilter::kBicubic ? 2 : 1; }

// Places in the copy with a border.
struct WarpChunk {
  static constexpr std::uint32_t kOutside = 0x8000;

  std::size_t count;
  alignas(64) std::uint32_t offset[kWarpChunk];  // of the first tap
  alignas(64) std::uint32_t parts[kWarpChunk];   // beyond a pixel, of x in the lower half; with kOutside for bicubic
};

HWY_INLINE WarpIntegers warp_coordinates(WarpFloats value, WarpFloats size) {
  const WarpFloatTag d;
  const auto near = hn::And(hn::Gt(value, hn::Set(d, -1.0f)), hn::Lt(value, size));
  const auto scaled = hn::Mul(hn::IfThenElse(near, value, hn::Set(d, -1.0f)), hn::Set(d, float{WarpPlace::kOne}));
  return hn::ConvertTo(WarpIntegerTag(), hn::Floor(scaled));
}

// The columns of a vector of pixels, and of the next one. (Iota in each step of a loop costs more than all the rest:
// g++ 12 makes the vector from integers, by way of memory.)
HWY_INLINE WarpFloats first_columns(int x) { return hn::Iota(WarpFloatTag(), static_cast<float>(x)); }
HWY_INLINE WarpFloats next_columns(WarpFloats columns) {
  const WarpFloatTag d;
  return hn::Add(columns, hn::Set(d, static_cast<float>(hn::Lanes(d))));
}

// Stores a vector of places at `i`.
HWY_INLINE void keep_places(const PicturePass& pass, WarpFloats at_x, WarpFloats at_y, WarpFilter filter, std::size_t i,
                            WarpChunk& chunk) {
  const WarpFloatTag d;
  const WarpIntegerTag d32;
  const hn::RebindToUnsigned<WarpFloatTag> du32;
  auto x = warp_coordinates(at_x, hn::Set(d, static_cast<float>(pass.in_width)));
  auto y = warp_coordinates(at_y, hn::Set(d, static_cast<float>(pass.in_height)));
  if (filter == WarpFilter::kNearest) {
    x = hn::Add(x, hn::Set(d32, WarpPlace::kOne / 2));
    y = hn::Add(y, hn::Set(d32, WarpPlace::kOne / 2));
  }
  const int stride = pass.in_width + 2 * warp_border(filter);
  const auto row = hn::Mul(hn::ShiftRight<WarpPlace::kBits>(y), hn::Set(d32, stride));
  // Bicubic has a tap before this pixel, and one more column and row before that.
  const auto offset = hn::Add(hn::Add(row, hn::ShiftRight<WarpPlace::kBits>(x)), hn::Set(d32, stride + 1));
  hn::Store(hn::BitCast(du32, offset), du32, chunk.offset + i);
  const auto part = hn::Set(d32, WarpPlace::kOne - 1);
  auto parts = hn::Or(hn::And(x, part), hn::ShiftLeft<16>(hn::And(y, part)));
  if (filter == WarpFilter::kBicubic) {
    const auto outside = [&](WarpIntegers place, int size) HWY_ATTR {
      const auto before = hn::Lt(place, hn::Set(d32, -WarpPlace::kOne / 2));
      return hn::Or(before, hn::Gt(place, hn::Set(d32, size * WarpPlace::kOne - WarpPlace::kOne / 2 - 1)));
    };
    const auto either = hn::Or(outside(x, pass.in_width), outside(y, pass.in_height));
    parts = hn::Or(parts, hn::IfThenElseZero(either, hn::Set(d32, static_cast<int>(WarpChunk::kOutside))));
  }
  hn::Store(hn::BitCast(du32, parts), du32, chunk.parts + i);
}

class MatrixPlaces {
 public:
  explicit MatrixPlaces(const PicturePass& pass)
      : pass_(pass), m_(pass.steps->f + WarpStep::kMatrix), projective_(m_[6] != 0 || m_[7] != 0 || m_[8] != 1) {}

  void start_row(int y) {
    const auto row = static_cast<float>(y);
    for (int i = 0; i < 3; ++i) sum_[i] = m_[3 * i + 1] * row + m_[3 * i + 2];
  }

  void find(int x, WarpFilter filter, WarpChunk& chunk) const {
    const WarpFloatTag d;
    const auto linear = [&](int i, WarpFloats columns)
                            HWY_ATTR { return hn::Add(hn::Mul(hn::Set(d, m_[3 * i]), columns), hn::Set(d, sum_[i])); };
    auto columns = first_columns(x);
    for (std::size_t i = 0; i < chunk.count; i += hn::Lanes(d), columns = next_columns(columns)) {
      auto at_x = linear(0, columns), at_y = linear(1, columns);
      if (projective_) {  // else the divisor is 1
        const auto divisor = linear(2, columns);
        at_x = hn::Div(at_x, divisor);
        at_y = hn::Div(at_y, divisor);
      }
      keep_places(pass_, at_x, at_y, filter, i, chunk);
    }
  }

 private:
  const PicturePass& pass_;
  const float* m_;
  bool projective_;
  float sum_[3];
};

// Keeps four rows of the lattice, and their weighted sum for the row of pixels, after the copy of the picture.
class ElasticPlaces {
 public:
  explicit ElasticPlaces(const PicturePass& pass)
      : pass_(pass),
        density_(pass.steps->f + WarpStep::kDensity),
        gain_(pass.steps->f + WarpStep::kGain),
        columns_(ElasticField::taps(density_[0], pass.width - 1).first + 4),
        stride_(static_cast<std::size_t>(columns_) + hn::MaxLanes(WarpFloatTag())),
        sums_(reinterpret_cast<float*>(pass.scratch + kWarpScratch.of({pass.width, pass.height}))),
        noise_(sums_ + 2 * stride_) {
    std::fill_n(sums_, 2 * stride_, 0.0f);  // vectors reach past the last column
  }

  void start_row(int y) {
    row_ = y;
    const ElasticField::Taps rows = ElasticField::taps(density_[1], y);
    for (; rows_made_ < rows.first + 4; ++rows_made_) make_row(rows_made_);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const float* const row[] = {noise(rows.first, axis), noise(rows.first + 1, axis), noise(rows.first + 2, axis),
                                  noise(rows.first + 3, axis)};
      float* const sums = sums_ + axis * stride_;
      for (int i = 0; i < columns_; ++i) sums[i] = weighted(rows.weight, row[0][i], row[1][i], row[2][i], row[3][i]);
    }
  }

  void find(int x, WarpFilter filter, WarpChunk& chunk) const {
    const WarpFloatTag d;
    const WarpIntegerTag d32;
    auto columns = first_columns(x);
    for (std::size_t i = 0; i < chunk.count; i += hn::Lanes(d), columns = next_columns(columns)) {
      const auto place = hn::Mul(columns, hn::Set(d, density_[0]));
      const auto first = hn::ConvertTo(d32, place);
      const int first_of_all = ElasticField::taps(density_[0], x + static_cast<int>(i)).first;
      const auto t = hn::Sub(place, hn::ConvertTo(d, first));
      const Weights weights = weights_of(t);
      // The lattice is coarser than the pixels: a vector of pixels lies within a vector of its points.
      const auto indices = hn::IndicesFromVec(d, hn::Sub(first, hn::Set(d32, first_of_all)));
      const auto move = [&](std::size_t axis) HWY_ATTR {
        const float* const sums = sums_ + axis * stride_ + first_of_all;
        const auto tap = [&](std::size_t k) HWY_ATTR { return hn::TableLookupLanes(hn::LoadU(d, sums + k), indices); };
        auto sum = hn::Add(hn::Mul(weights.w0, tap(0)), hn::Mul(weights.w1, tap(1)));
        sum = hn::Add(sum, hn::Mul(weights.w2, tap(2)));
        sum = hn::Add(sum, hn::Mul(weights.w3, tap(3)));
        return hn::Mul(sum, hn::Set(d, gain_[axis]));
      };
      const auto row = hn::Set(d, static_cast<float>(row_));
      keep_places(pass_, hn::Add(columns, move(0)), hn::Add(row, move(1)), filter, i, chunk);
    }
  }

 private:
  struct Weights {
    WarpFloats w0, w1, w2, w3;
  };
  static HWY_INLINE Weights weights_of(WarpFloats t) {
    const WarpFloatTag d;
    const auto sixth = hn::Set(d, ElasticField::kSixth), three = hn::Set(d, 3.0f), six = hn::Set(d, 6.0f);
    const auto four = hn::Set(d, 4.0f);
    const auto s = hn::Sub(hn::Set(d, 1.0f), t), t2 = hn::Mul(t, t), s2 = hn::Mul(s, s);
    return {hn::Mul(hn::Mul(s2, s), sixth), hn::Mul(hn::Add(hn::Mul(t2, hn::Sub(hn::Mul(t, three), six)), four), sixth),
            hn::Mul(hn::Add(hn::Mul(s2, hn::Sub(hn::Mul(s, three), six)), four), sixth),
            hn::Mul(hn::Mul(t2, t), sixth)};
  }

  float* noise(int row, std::size_t axis) const {
    return noise_ + (static_cast<std::size_t>(row % 4) * 2 + axis) * stride_;
  }

  void make_row(int row) {
    float *const x = noise(row, 0), *const y = noise(row, 1);
    for (int column = 0; column < columns_; ++column) {
      const ElasticField::Noise value = ElasticField::noise(pass_.steps->key, column, row);
      x[column] = value.x;
      y[column] = value.y;
    }
  }

  const PicturePass& pass_;
  const float *density_, *gain_;
  int columns_;
  std::size_t stride_;
  float *sums_, *noise_;
  int rows_made_ = 0, row_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
