// One maker per operator on pictures, for the operator table; the calls have been checked against it.
#pragma once

#include <memory>

#include "stoker/ops/operator_call.h"
#include "stoker/ops/picture/picture_operator.h"

namespace stoker {

std::unique_ptr<PictureOperator> make_brightness(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_invert(const OperatorCall& call);

// Of a pixel's neighbourhood, and noise.
std::unique_ptr<PictureOperator> make_gaussian_blur(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_sharpness(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_random_sharpness(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_gaussian_noise(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_shot_noise(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_salt_and_pepper(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_jpeg_degrade(const OperatorCall& call);

}  // namespace stoker
