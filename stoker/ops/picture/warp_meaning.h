// The meaning of warps: where in the input an output pixel lies, and the value there. Places are computed in float32,
// every operation rounded by itself in the order written here, then kept in 1/32768 of a pixel; all else is integers.
#pragma once

#include <cstdint>

#include "stoker/base/philox.h"
#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

enum class WarpFilter : std::uint8_t { kNearest, kBilinear, kBicubic };

/// What the parameters of PictureKind::kWarp and kElastic are.
struct WarpStep {
  // Of kWarp, a matrix: the output's pixel (x, y) shows the input's (X / W, Y / W), where (X, Y, W) is the matrix times
  // (x, y, 1) and (0, 0) the middle of the first pixel.
  static constexpr int kMatrix = 0;
  // Of kElastic, by axis: points of the lattice per pixel, and the displacement in pixels per unit of noise.
  static constexpr int kDensity = 0, kGain = 2;

  // Of both, in n.
  static constexpr int kFilter = 0, kFill = 1;
  // Of kWarp with bilinear: not 0 if pixels outside count as `fill`, without the darker rim.
  static constexpr int kFillsAround = 4;

  STOKER_HOST_DEVICE static WarpFilter filter(const PictureStep& step) {
    return static_cast<WarpFilter>(step.n[kFilter]);
  }
  STOKER_HOST_DEVICE static bool fills_around(const PictureStep& step) { return step.n[kFillsAround] != 0; }
};

/// A place in the input; 0 is the middle of the first pixel.
struct WarpPlace {
  static constexpr int kBits = 15, kOne = 1 << kBits;
  std::int32_t x, y;
};

/// Whatever is not within a pixel of the input is one pixel outside, and so shows nothing of it.
STOKER_HOST_DEVICE inline std::int32_t warp_coordinate(float value, int size) {
  if (!(value > -1.0f && value < static_cast<float>(size))) return -WarpPlace::kOne;  // NaN, too
  const float scaled = value * static_cast<float>(WarpPlace::kOne);
  const auto truncated = static_cast<std::int32_t>(scaled);
  return truncated - (scaled < static_cast<float>(truncated) ? 1 : 0);
}

STOKER_HOST_DEVICE inline WarpPlace matrix_place(const PicturePass& pass, int x, int y) {
  const float* const m = pass.steps->f + WarpStep::kMatrix;
  const auto column = static_cast<float>(x), row = static_cast<float>(y);
  float at_x = m[0] * column + (m[1] * row + m[2]);
  float at_y = m[3] * column + (m[4] * row + m[5]);
  const float divisor = m[6] * column + (m[7] * row + m[8]);
  at_x = at_x / divisor;
  at_y = at_y / divisor;
  return {warp_coordinate(at_x, pass.in_width), warp_coordinate(at_y, pass.in_height)};
}

/// The displacement of an elastic deformation: noise on a lattice, made smooth by cubic B-splines.
struct ElasticField {
  /// A pixel's place between four points of the lattice, on one axis: the first one, and the weight of each.
  struct Taps {
    std::int32_t first;
    float weight[4];
  };
  static constexpr float kSixth = 1.0f / 6;

  STOKER_HOST_DEVICE static Taps taps(float density, int pixel) {
    const float place = static_cast<float>(pixel) * density;
    const auto first = static_cast<std::int32_t>(place);
    const float t = place - static_cast<float>(first), s = 1.0f - t;
    const float t2 = t * t, s2 = s * s;
    return {first,
            {s2 * s * kSixth, (t2 * (t * 3.0f - 6.0f) + 4.0f) * kSixth, (s2 * (s * 3.0f - 6.0f) + 4.0f) * kSixth,
             t2 * t * kSixth}};
  }

  /// Nearly normal: sums of eight bytes, with a mean of 0 and a variance of 8 (256^2 - 1) / 12.
  struct Noise {
    float x, y;
  };
  STOKER_HOST_DEVICE static Noise noise(std::uint64_t key, int column, int row) {
    const PhiloxBlock bits =
        Philox::block({{static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(row), 0, 0}},
                      static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32));
    return {sum_of_bytes(bits.word[0], bits.word[1]), sum_of_bytes(bits.word[2], bits.word[3])};
  }

 private:
  STOKER_HOST_DEVICE static float sum_of_bytes(std::uint32_t a, std::uint32_t b) {
    int sum = -4 * 255;
    for (int shift = 0; shift < 32; shift += 8) {
      sum += static_cast<int>(a >> shift & 0xFF) + static_cast<int>(b >> shift & 0xFF);
    }
    return static_cast<float>(sum);
  }
};

STOKER_HOST_DEVICE inline float weighted(const float (&weight)[4], float a, float b, float c, float d) {
  return ((weight[0] * a + weight[1] * b) + weight[2] * c) + weight[3] * d;
}

STOKER_HOST_DEVICE inline WarpPlace elastic_place(const PicturePass& pass, int x, int y) {
  const PictureStep& step = *pass.steps;
  const float *const density = step.f + WarpStep::kDensity, *const gain = step.f + WarpStep::kGain;
  const ElasticField::Taps columns = ElasticField::taps(density[0], x), rows = ElasticField::taps(density[1], y);
  float sum_x[4], sum_y[4];  // by column of the lattice
  for (int i = 0; i < 4; ++i) {
    ElasticField::Noise noise[4];
    for (int j = 0; j < 4; ++j) noise[j] = ElasticField::noise(step.key, columns.first + i, rows.first + j);
    sum_x[i] = weighted(rows.weight, noise[0].x, noise[1].x, noise[2].x, noise[3].x);
    sum_y[i] = weighted(rows.weight, noise[0].y, noise[1].y, noise[2].y, noise[3].y);
  }
  const float move_x = weighted(columns.weight, sum_x[0], sum_x[1], sum_x[2], sum_x[3]) * gain[0];
  const float move_y = weighted(columns.weight, sum_y[0], sum_y[1], sum_y[2], sum_y[3]) * gain[1];
  return {warp_coordinate(static_cast<float>(x) + move_x, pass.in_width),
          warp_coordinate(static_cast<float>(y) + move_y, pass.in_height)};
}

/// Between a and b, at f / 32768 of the way. |b - a| fits in 16 bits.
STOKER_HOST_DEVICE inline int interpolated(int a, int b, int f) { return a + (((b - a) * f + 0x4000) >> 15); }

/// Bilinear values have 6 bits more than a byte.
struct WarpValue {
  static constexpr int kBits = 6, kAll = 255 << kBits;

  /// Values outside are 0, and so is their share; `share` is that of the input, of kAll, and `sum` the value.
  /// torchvision multiplies the value, which lacks the parts outside already, by the share once more, and adds the rest
  /// of `fill`.
  STOKER_HOST_DEVICE static std::uint8_t filled(int sum, int share, int fill) {
    const int share15 = 2 * share + (share >> 7);  // 32767 is all of it, and changes nothing
    return static_cast<std::uint8_t>((interpolated(fill << kBits, sum, share15) + (1 << (kBits - 1))) >> kBits);
  }
};

STOKER_HOST_DEVICE inline void warp_nearest(const PicturePass& pass, WarpPlace place, int x, int y) {
  const int from_x = (place.x + WarpPlace::kOne / 2) >> WarpPlace::kBits;
  const int from_y = (place.y + WarpPlace::kOne / 2) >> WarpPlace::kBits;
  const bool inside = from_x >= 0 && from_x < pass.in_width && from_y >= 0 && from_y < pass.in_height;
  for (int c = 0; c < 3; ++c) {
    const int value = inside ? pass.at(from_x, from_y, c) : pass.steps->n[WarpStep::kFill + c];
    pass.put(x, y, c, static_cast<std::uint8_t>(value));
  }
}

STOKER_HOST_DEVICE inline void warp_bilinear(const PicturePass& pass, WarpPlace place, int x, int y) {
  const int left = place.x >> WarpPlace::kBits, top = place.y >> WarpPlace::kBits;
  const int part_x = place.x & (WarpPlace::kOne - 1), part_y = place.y & (WarpPlace::kOne - 1);
  const bool in_x[2] = {left >= 0, left + 1 < pass.in_width}, in_y[2] = {top >= 0, top + 1 < pass.in_height};
  const auto blended = [&](auto&& tap) {
    const int upper = interpolated(tap(0, 0), tap(1, 0), part_x), lower = interpolated(tap(0, 1), tap(1, 1), part_x);
    return interpolated(upper, lower, part_y);
  };
  const bool fills = WarpStep::fills_around(*pass.steps);
  const int share = blended([&](int i, int j) { return fills || (in_x[i] && in_y[j]) ? WarpValue::kAll : 0; });
  for (int c = 0; c < 3; ++c) {
    const int fill = pass.steps->n[WarpStep::kFill + c], around = fills ? fill : 0;
    const int sum = blended([&](int i, int j) {
      return (in_x[i] && in_y[j] ? pass.at(left + i, top + j, c) : around) << WarpValue::kBits;
    });
    pass.put(x, y, c, WarpValue::filled(sum, share, fill));
  }
}

/// The cubic through four values that is Pillow's where it transforms images (a = -1).
struct WarpCubic {
  /// In 1/32768; 1 is one less, which changes no value that it is multiplied with.
  STOKER_HOST_DEVICE static void weights(int part, int (&weight)[4]) {
    const float t = static_cast<float>(part) * (1.0f / WarpPlace::kOne), t2 = t * t;
    weight[0] = fixed(t * (t * (2.0f - t) - 1.0f));
    weight[1] = fixed(t2 * (t - 2.0f) + 1.0f);
    weight[2] = fixed(t * (t * (1.0f - t) + 1.0f));
    weight[3] = fixed(t2 * (t - 1.0f));
  }
  /// Of a value of 16 bits.
  STOKER_HOST_DEVICE static int weighted(int value, int weight) { return (value * weight + 0x4000) >> 15; }

 private:
  STOKER_HOST_DEVICE static int fixed(float weight) {
    const float scaled = weight * static_cast<float>(WarpPlace::kOne) + 0.5f;
    const auto truncated = static_cast<int>(scaled);
    const int floor = truncated - (scaled < static_cast<float>(truncated) ? 1 : 0);
    return floor < WarpPlace::kOne ? floor : WarpPlace::kOne - 1;
  }
};

/// Whether a place is nearer to a pixel than half a pixel, on this axis.
STOKER_HOST_DEVICE inline bool within_pixels(std::int32_t place, int size) {
  return place >= -WarpPlace::kOne / 2 && place < size * WarpPlace::kOne - WarpPlace::kOne / 2;
}

STOKER_HOST_DEVICE inline int clamped_index(int index, int size) {
  return index < 0 ? 0 : index < size ? index : size - 1;
}

STOKER_HOST_DEVICE inline void warp_bicubic(const PicturePass& pass, WarpPlace place, int x, int y) {
  const bool inside = within_pixels(place.x, pass.in_width) && within_pixels(place.y, pass.in_height);
  const int left = (place.x >> WarpPlace::kBits) - 1, top = (place.y >> WarpPlace::kBits) - 1;
  int weight_x[4], weight_y[4];
  WarpCubic::weights(place.x & (WarpPlace::kOne - 1), weight_x);
  WarpCubic::weights(place.y & (WarpPlace::kOne - 1), weight_y);
  for (int c = 0; c < 3; ++c) {
    int sum = 0;
    for (int j = 0; j < 4; ++j) {
      int row = 0;
      for (int i = 0; i < 4; ++i) {
        const int value = pass.at(clamped_index(left + i, pass.in_width), clamped_index(top + j, pass.in_height), c);
        row += WarpCubic::weighted(value << WarpValue::kBits, weight_x[i]);
      }
      sum += WarpCubic::weighted(row, weight_y[j]);
    }
    sum = sum < 0 ? 0 : sum < WarpValue::kAll ? sum : WarpValue::kAll;
    const int value =
        inside ? (sum + (1 << (WarpValue::kBits - 1))) >> WarpValue::kBits : pass.steps->n[WarpStep::kFill + c];
    pass.put(x, y, c, static_cast<std::uint8_t>(value));
  }
}

STOKER_HOST_DEVICE inline void warp_pixel(const PicturePass& pass, int x, int y) {
  const WarpPlace place =
      pass.steps->kind == PictureKind::kElastic ? elastic_place(pass, x, y) : matrix_place(pass, x, y);
  switch (WarpStep::filter(*pass.steps)) {
    case WarpFilter::kNearest: return warp_nearest(pass, place, x, y);
    case WarpFilter::kBilinear: return warp_bilinear(pass, place, x, y);
    case WarpFilter::kBicubic: return warp_bicubic(pass, place, x, y);
  }
}

STOKER_HOST_DEVICE inline void frame_pixel(const PicturePass& pass, int x, int y) {
  const std::int32_t* const n = pass.steps->n;
  const bool inside = x >= n[0] && y >= n[1] && x < n[2] && y < n[3];
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, static_cast<std::uint8_t>(inside ? pass.at(x, y, c) : n[4 + c]));
}

}  // namespace stoker
