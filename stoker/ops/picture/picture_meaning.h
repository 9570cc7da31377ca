// The meaning of every step on a picture: short scalar functions that the reference executor and the device's kernel
// call. The CPU's kernels make the same bits.
#pragma once

#include "stoker/ops/picture/blur_meaning.h"
#include "stoker/ops/picture/jpeg_meaning.h"
#include "stoker/ops/picture/linear_meaning.h"
#include "stoker/ops/picture/noise_meaning.h"
#include "stoker/ops/picture/picture_pass.h"
#include "stoker/ops/picture/sharpness_meaning.h"

namespace stoker {

STOKER_HOST_DEVICE inline void invert_pixel(const PicturePass& pass, int x, int y) {
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, static_cast<std::uint8_t>(255 - pass.at(x, y, c)));
}

/// Computes one unit of a pass: the square of pixels (PictureTraits::unit) whose first one is this.
STOKER_HOST_DEVICE inline void compute_unit(const PicturePass& pass, int x, int y) {
  switch (pass.steps->kind) {
    case PictureKind::kAffine: return linear_pixel(pass, x, y);
    case PictureKind::kInvert: return invert_pixel(pass, x, y);
    case PictureKind::kBlurAcross: return blur_across_unit(pass, x, y);
    case PictureKind::kBlurDown: return blur_down_unit(pass, x, y);
    case PictureKind::kJpegCode: return jpeg_code_unit(pass, x, y);
    case PictureKind::kJpegColor: return jpeg_color_pixel(pass, x, y);
    case PictureKind::kSharpness: return sharpness_pixel(pass, x, y);
    case PictureKind::kGaussianNoise: return gaussian_noise_pixel(pass, x, y);
    case PictureKind::kShotNoise: return shot_noise_pixel(pass, x, y);
    case PictureKind::kSaltAndPepper: return salt_and_pepper_pixel(pass, x, y);
  }
}

/// Derives a channel's part of the facts from the statistics that the pass asks for.
STOKER_HOST_DEVICE inline void find_facts(const PicturePass& pass, const PictureStatistics&, int /*channel*/) {
  switch (pass.steps->kind) {
    case PictureKind::kAffine:
    case PictureKind::kInvert:
    case PictureKind::kBlurAcross:
    case PictureKind::kBlurDown:
    case PictureKind::kJpegCode:
    case PictureKind::kJpegColor:
    case PictureKind::kSharpness:
    case PictureKind::kGaussianNoise:
    case PictureKind::kShotNoise:
    case PictureKind::kSaltAndPepper: return;
  }
}

}  // namespace stoker
