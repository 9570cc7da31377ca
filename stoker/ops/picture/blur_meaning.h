// The meaning of a Gaussian blur's two passes. The first leaves 16 bits a value in the work, as GaussianTaps says.
#pragma once

#include "stoker/ops/picture/gaussian_taps.h"
#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

/// n[0]: the radius; f[0]: GaussianTaps' ratio.
STOKER_HOST_DEVICE inline GaussianTaps gaussian_taps_of(const PictureStep& step) {
  return GaussianTaps::of(step.n[0], step.f[0]);
}

/// The values between the passes, by PicturePass::index().
STOKER_HOST_DEVICE inline std::int16_t* blur_work(const PicturePass& pass) {
  return reinterpret_cast<std::int16_t*>(pass.work);
}

/// Calls `pixel(x, y, channel)` for all values of a unit.
template <class Pixel>
STOKER_HOST_DEVICE void for_values_of_unit(const PicturePass& pass, int x, int y, const Pixel& pixel) {
  const int end_x = x + kBlurUnit < pass.width ? x + kBlurUnit : pass.width;
  const int end_y = y + kBlurUnit < pass.height ? y + kBlurUnit : pass.height;
  for (int c = 0; c < 3; ++c) {
    for (int row = y; row < end_y; ++row) {
      for (int column = x; column < end_x; ++column) pixel(column, row, c);
    }
  }
}

STOKER_HOST_DEVICE inline void blur_across_unit(const PicturePass& pass, int x, int y) {
  const GaussianTaps taps = gaussian_taps_of(*pass.steps);
  std::int16_t* const work = blur_work(pass);
  for_values_of_unit(pass, x, y, [&](int column, int row, int c) {
    int sum = 0;
    for (int k = 0; k <= taps.radius; ++k) {
      const int left = pass.at(reflected(column - k, pass.width), row, c);
      const int right = pass.at(reflected(column + k, pass.width), row, c);
      sum += taps.weighted(k, GaussianTaps::widened(left) + GaussianTaps::widened(right));
    }
    work[pass.index(column, row, c)] = static_cast<std::int16_t>(sum);
  });
}

STOKER_HOST_DEVICE inline void blur_down_unit(const PicturePass& pass, int x, int y) {
  const GaussianTaps taps = gaussian_taps_of(*pass.steps);
  const std::int16_t* const work = blur_work(pass);
  for_values_of_unit(pass, x, y, [&](int column, int row, int c) {
    int sum = 0;
    for (int k = 0; k <= taps.radius; ++k) {
      sum += taps.weighted(k, work[pass.index(column, reflected(row - k, pass.height), c)] +
                                  work[pass.index(column, reflected(row + k, pass.height), c)]);
    }
    pass.put(column, row, c, static_cast<std::uint8_t>(GaussianTaps::narrowed(sum)));
  });
}

}  // namespace stoker
