#include "stoker/ops/picture/picture_cases_testing.h"

namespace stoker {
namespace {

const OperatorCall kInvert{"invert", {}};
const OperatorCall kDarker{"brightness", {{"factor", 0.7}}};
const OperatorCall kAnyLight{"brightness", {{"factor", Numbers{0.5, 1.8}}}};

}  // namespace

const std::vector<PictureCase>& picture_cases() {
  static const std::vector<PictureCase> cases = {
      {{"brightness", {{"factor", 0.7}}}, "9b76707e6b68882a"},
      {{"brightness", {{"factor", Numbers{0.5, 1.8}}}}, "6cd60eba4a317394"},
      {{"invert", {}}, "9a17d64c40630fc8"},
      {{"random_apply", {{"operators", OperatorCalls{kDarker, kInvert}}, {"p", 0.6}}}, "94ab8d9c0633f76c"},
      {{"random_choice", {{"operators", OperatorCalls{kDarker, kInvert, kAnyLight}}, {"p", Numbers{1, 2, 3}}}},
       "6dedd46236d81160"},
      {{"random_order", {{"operators", OperatorCalls{kAnyLight, kInvert, kAnyLight, kDarker}}}}, "4134fead57dda7b5"},
      {{"sequence", {{"operators", OperatorCalls{kInvert, {"random_apply", {{"operators", OperatorCalls{kDarker}}}}}}}},
       "2a03c99d17b6b62c"},
      {{"gaussian_blur", {{"kernel_size", 23.0}}}, "b6d5f7292fb57e80"},
      {{"gaussian_blur", {{"kernel_size", Numbers{3, 127}}, {"sigma", Numbers{0.01, 40}}}}, "464732aa2776c2c4"},
      {{"sharpness", {{"factor", 1.9}}}, "425d3735d3e48593"},
      {{"sharpness", {{"factor", Numbers{0, 20}}}}, "5896f5cdc015ee3c"},
      {{"random_sharpness", {{"factor", 0.3}}}, "afc587482688fc25"},
      {{"gaussian_noise", {}}, "9488612d952df0b3"},
      {{"gaussian_noise", {{"mean", -0.2}, {"sigma", Numbers{0, 1.5}}}}, "6e0f89cc564c6fe4"},
      {{"shot_noise", {{"photons", Numbers{3, 60}}}}, "271d814757a53728"},
      {{"shot_noise", {{"photons", 300.0}}}, "9c47f3e3495b90b5"},
      {{"salt_and_pepper", {{"amount", Numbers{0.01, 0.6}}, {"ratio", Numbers{0.3, 0.7}}}}, "85db4664aee3439f"},
      {{"salt_and_pepper", {{"amount", 1.0}, {"ratio", 1.0}}}, "fe1f73c04a6a237c"},
      {{"jpeg_degrade", {{"quality", Numbers{1, 100}}}}, "e982c514147281a3"},
  };
  return cases;
}

}  // namespace stoker
