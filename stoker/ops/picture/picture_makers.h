// One maker per operator on pictures, for the operator table; the calls have been checked against it.
#pragma once

#include <memory>

#include "stoker/ops/operator_call.h"
#include "stoker/ops/picture/picture_operator.h"

namespace stoker {

std::unique_ptr<PictureOperator> make_brightness(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_contrast(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_saturation(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_hue(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_color_jitter(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_grayscale(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_random_grayscale(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_torchvision_brightness(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_torchvision_contrast(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_torchvision_saturation(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_torchvision_hue(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_torchvision_color_jitter(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_torchvision_grayscale(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_invert(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_random_invert(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_posterize(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_random_posterize(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_solarize(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_random_solarize(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_equalize(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_random_equalize(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_autocontrast(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_random_autocontrast(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_gamma(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_channel_permutation(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_channel_dropout(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_channel_affine(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_lighting(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_rotate(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_random_rotation(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_affine(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_random_affine(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_shear_x(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_shear_y(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_translate_x(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_translate_y(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_perspective(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_random_perspective(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_elastic(const OperatorCall& call);

// Of a pixel's neighbourhood, and noise.
std::unique_ptr<PictureOperator> make_gaussian_blur(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_sharpness(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_random_sharpness(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_gaussian_noise(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_shot_noise(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_salt_and_pepper(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_jpeg_degrade(const OperatorCall& call);

// Policies.
std::unique_ptr<PictureOperator> make_rand_augment(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_trivial_augment_wide(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_auto_augment(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_aug_mix(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_timm_augment(const OperatorCall& call);

}  // namespace stoker
