#include "stoker/ops/kernels/picture/picture_kernels.h"

#include "stoker/base/isa.h"
#include "stoker/base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/ops/kernels/picture/picture_kernels.cc"
#include <hwy/foreach_target.h>  // includes this file once per instruction set
#include <hwy/highway.h>

#include "stoker/ops/kernels/picture/blur-inl.h"
#include "stoker/ops/kernels/picture/invert-inl.h"
#include "stoker/ops/kernels/picture/jpeg-inl.h"
#include "stoker/ops/kernels/picture/linear-inl.h"
#include "stoker/ops/kernels/picture/noise-inl.h"
#include "stoker/ops/kernels/picture/sharpness-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

const PictureKernels* picture_table_of_target() {
  static constexpr PictureKernels kTable = [] {
    PictureKernels table;
    table.target = HWY_TARGET;
    table[PictureKind::kAffine] = run_linear;
    table[PictureKind::kInvert] = invert_picture;
    table[PictureKind::kBlurAcross] = blur_picture_across;
    table[PictureKind::kBlurDown] = blur_picture_down;
    table[PictureKind::kJpegCode] = jpeg_code_picture;
    table[PictureKind::kJpegColor] = jpeg_color_picture;
    table[PictureKind::kSharpness] = sharpen_picture;
    table[PictureKind::kGaussianNoise] = add_gaussian_noise;
    table[PictureKind::kShotNoise] = add_shot_noise;
    table[PictureKind::kSaltAndPepper] = add_salt_and_pepper;
    return table;
  }();
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(picture_table_of_target);

const PictureKernels& picture_kernels() {
  ensure_isa();
  return *HWY_DYNAMIC_DISPATCH(picture_table_of_target)();
}

}  // namespace stoker
#endif
