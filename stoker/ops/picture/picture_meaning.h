// The meaning of every step on a picture: short scalar functions that the reference executor and the device's kernels
// call. The CPU's kernels make the same bits.
#pragma once

#include "stoker/ops/picture/blur_meaning.h"
#include "stoker/ops/picture/jpeg_meaning.h"
#include "stoker/ops/picture/linear_meaning.h"
#include "stoker/ops/picture/mixture_meaning.h"
#include "stoker/ops/picture/noise_meaning.h"
#include "stoker/ops/picture/picture_pass.h"
#include "stoker/ops/picture/sharpness_meaning.h"
#include "stoker/ops/picture/table_meaning.h"
#include "stoker/ops/picture/torchvision_meaning.h"
#include "stoker/ops/picture/warp_meaning.h"

namespace stoker {

/// What a statistic counts of a pixel, for a channel.
STOKER_HOST_DEVICE inline int counted_value(const PicturePass& pass, PictureStatistic statistic, std::ptrdiff_t pixel,
                                            int channel) {
  const std::uint8_t* const rgb = pass.in + pixel;
  if (statistic != PictureStatistic::kGreyMean) return rgb[channel * pass.pixels()];
  return static_cast<int>(torchvision_grey(static_cast<float>(rgb[0]), static_cast<float>(rgb[pass.pixels()]),
                                           static_cast<float>(rgb[2 * pass.pixels()])));
}

/// What a value becomes, of a table that is the same for all channels.
STOKER_HOST_DEVICE inline std::uint8_t value_in_table(const PicturePass& pass, const PictureStatistics& statistics,
                                                      int value) {
  const PictureStep& step = *pass.steps;
  if (step.kind == PictureKind::kGamma) return gamma_value(step, value);
  const bool blends = step.kind == PictureKind::kTorchvisionContrast;
  const float mean = blends ? static_cast<float>(statistics.sums[0]) / static_cast<float>(pass.pixels()) : 0;
  return torchvision_blend(step, mean, value);
}

/// Derives the facts from the statistics that the pass asks for. `lanes` calls share the work; each is a lane of it.
STOKER_HOST_DEVICE inline void find_facts(const PicturePass& pass, const PictureStatistics& statistics, int lane,
                                          int lanes) {
  switch (pass.steps->kind) {
    case PictureKind::kAffine:
    case PictureKind::kContrast:
    case PictureKind::kSaturation:
    case PictureKind::kMatrix:
      if (lane == 0) find_linear_facts(pass, statistics);
      return;
    case PictureKind::kTorchvisionBrightness:
    case PictureKind::kTorchvisionContrast:
    case PictureKind::kGamma:
      for (int value = lane; value < 256; value += lanes) {
        const std::uint8_t now = value_in_table(pass, statistics, value);
        for (auto& table : pass.facts->table) table[value] = now;
      }
      return;
    case PictureKind::kEqualize:
      for (int c = lane; c < 3; c += lanes) equalize_table(statistics.counts[c], pass.facts->table[c]);
      return;
    case PictureKind::kAutocontrast:
      for (int c = lane; c < 3; c += lanes) autocontrast_table(statistics.counts[c], pass.facts->table[c]);
      return;
    default: return;
  }
}

/// Computes one unit of a pass whose units are larger than a pixel: the square whose first pixel is this.
STOKER_HOST_DEVICE inline void compute_block(const PicturePass& pass, int x, int y) {
  switch (pass.steps->kind) {
    case PictureKind::kBlurAcross: return blur_across_unit(pass, x, y);
    case PictureKind::kBlurDown: return blur_down_unit(pass, x, y);
    case PictureKind::kJpegCode: return jpeg_code_unit(pass, x, y);
    default: return;
  }
}

/// Computes one unit of any other pass.
STOKER_HOST_DEVICE inline void compute_pixel(const PicturePass& pass, int x, int y) {
  switch (pass.steps->kind) {
    case PictureKind::kAffine:
    case PictureKind::kContrast:
    case PictureKind::kSaturation:
    case PictureKind::kMatrix: return linear_pixel(pass, x, y);
    case PictureKind::kTorchvisionSaturation:
    case PictureKind::kTorchvisionHue:
    case PictureKind::kTorchvisionGrayscale: return torchvision_pixel(pass, x, y);
    case PictureKind::kInvert: return invert_pixel(pass, x, y);
    case PictureKind::kPosterize: return posterize_pixel(pass, x, y);
    case PictureKind::kSolarize: return solarize_pixel(pass, x, y);
    case PictureKind::kSolarizeAdd: return solarize_add_pixel(pass, x, y);
    case PictureKind::kTorchvisionBrightness:
    case PictureKind::kTorchvisionContrast:
    case PictureKind::kGamma:
    case PictureKind::kEqualize:
    case PictureKind::kAutocontrast: return table_pixel(pass, x, y);
    case PictureKind::kPermutation: return permute_pixel(pass, x, y);
    case PictureKind::kBlurAcross:
    case PictureKind::kBlurDown:
    case PictureKind::kJpegCode: return;  // of blocks
    case PictureKind::kJpegColor: return jpeg_color_pixel(pass, x, y);
    case PictureKind::kSharpness: return sharpness_pixel(pass, x, y);
    case PictureKind::kGaussianNoise: return gaussian_noise_pixel(pass, x, y);
    case PictureKind::kShotNoise: return shot_noise_pixel(pass, x, y);
    case PictureKind::kSaltAndPepper: return salt_and_pepper_pixel(pass, x, y);
    case PictureKind::kWarp:
    case PictureKind::kElastic: return warp_pixel(pass, x, y);
    case PictureKind::kFrame: return frame_pixel(pass, x, y);
    case PictureKind::kKeep: return keep_pixel(pass, x, y);
    case PictureKind::kRecall: return recall_pixel(pass, x, y);
    case PictureKind::kWeightedSum:
    case PictureKind::kTowards: return mixture_pixel(pass, x, y);
  }
}

/// All units of a pass, one after another.
inline void compute_units(const PicturePass& pass) {
  const int unit = traits_of(pass.steps->kind).unit;
  for (int y = 0; y < pass.height; y += unit) {
    for (int x = 0; x < pass.width; x += unit) {
      if (unit == 1) {
        compute_pixel(pass, x, y);
      } else {
        compute_block(pass, x, y);
      }
    }
  }
}

/// A pass by its meaning alone: statistics, facts, units.
void compute_plainly(const PicturePass& pass);

}  // namespace stoker
