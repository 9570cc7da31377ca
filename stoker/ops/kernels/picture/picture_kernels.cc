#include "stoker/ops/kernels/picture/picture_kernels.h"

#include "stoker/base/isa.h"
#include "stoker/base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/ops/kernels/picture/picture_kernels.cc"
#include <hwy/foreach_target.h>  // includes this file once per instruction set
#include <hwy/highway.h>

#include "stoker/ops/kernels/picture/blur-inl.h"
#include "stoker/ops/kernels/picture/jpeg-inl.h"
#include "stoker/ops/kernels/picture/linear-inl.h"
#include "stoker/ops/kernels/picture/mixture-inl.h"
#include "stoker/ops/kernels/picture/noise-inl.h"
#include "stoker/ops/kernels/picture/sharpness-inl.h"
#include "stoker/ops/kernels/picture/table-inl.h"
#include "stoker/ops/kernels/picture/torchvision-inl.h"
#include "stoker/ops/kernels/picture/warp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

const PictureKernels* picture_table_of_target() {
  static constexpr PictureKernels kTable = [] {
    PictureKernels table;
    table.target = HWY_TARGET;
    table.sum = sum_of_plane;
    table.grey_sum = sum_of_grey;
    table.extremes = extremes_of_plane;
    table[PictureKind::kAffine] = run_linear;
    table[PictureKind::kContrast] = run_linear;
    table[PictureKind::kSaturation] = run_linear;
    table[PictureKind::kMatrix] = run_linear;
    table[PictureKind::kTorchvisionBrightness] = look_up_picture;
    table[PictureKind::kTorchvisionContrast] = look_up_picture;
    table[PictureKind::kTorchvisionSaturation] = torchvision_saturation;
    table[PictureKind::kTorchvisionHue] = torchvision_shift_hue;
    table[PictureKind::kTorchvisionGrayscale] = torchvision_grayscale;
    table[PictureKind::kInvert] = invert_picture;
    table[PictureKind::kPosterize] = posterize_picture;
    table[PictureKind::kSolarize] = solarize_picture;
    table[PictureKind::kSolarizeAdd] = solarize_add_picture;
    table[PictureKind::kGamma] = look_up_picture;
    table[PictureKind::kEqualize] = look_up_picture;
    table[PictureKind::kAutocontrast] = look_up_picture;
    table[PictureKind::kPermutation] = permute_picture;
    table[PictureKind::kBlurAcross] = blur_picture_across;
    table[PictureKind::kBlurDown] = blur_picture_down;
    table[PictureKind::kJpegCode] = jpeg_code_picture;
    table[PictureKind::kJpegColor] = jpeg_color_picture;
    table[PictureKind::kSharpness] = sharpen_picture;
    table[PictureKind::kGaussianNoise] = add_gaussian_noise;
    table[PictureKind::kShotNoise] = add_shot_noise;
    table[PictureKind::kSaltAndPepper] = add_salt_and_pepper;
    table[PictureKind::kWarp] = warp_picture;
    table[PictureKind::kElastic] = deform_picture;
    table[PictureKind::kKeep] = keep_picture;
    table[PictureKind::kRecall] = recall_picture;
    table[PictureKind::kWeightedSum] = sum_pictures;
    table[PictureKind::kTowards] = move_picture_towards;
    table.normals = noise_normals;
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
