// jpeg_degrade: its meaning, compiled for the instruction set.
#if defined(STOKER_OPS_KERNELS_PICTURE_JPEG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_JPEG_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_JPEG_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_JPEG_INL_H_
#endif

#include <hwy/highway.h>

#include "stoker/ops/picture/jpeg_meaning.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

HWY_FLATTEN inline void jpeg_code_picture(const PicturePass& pass) {
  const JpegDivisors divisors(pass.steps->n[0]);
  const JpegPlanes planes = JpegPlanes::of(pass);
  for (int y = 0; y < planes.height[0]; y += 8) {
    for (int x = 0; x < planes.width[0]; x += 8) jpeg_code_luma(pass, x, y, divisors);
  }
  for (int c = 1; c < 3; ++c) {
    for (int y = 0; y < planes.height[1]; y += 8) {
      for (int x = 0; x < planes.width[1]; x += 8) jpeg_code_chroma(pass, c, x, y, divisors);
    }
  }
}

HWY_FLATTEN inline void jpeg_color_picture(const PicturePass& pass) {
  for (int y = 0; y < pass.height; ++y) {
    for (int x = 0; x < pass.width; ++x) jpeg_color_pixel(pass, x, y);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
