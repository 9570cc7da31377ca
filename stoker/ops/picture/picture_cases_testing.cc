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
      {{"contrast", {{"factor", Numbers{0, 2}}}}, "0dd15d237e3d012b"},
      {{"saturation", {{"factor", Numbers{0, 3}}}}, "8401329692d41613"},
      {{"hue", {{"factor", Numbers{-0.5, 0.5}}}}, "5dfe4fc0a621b5cf"},
      {{"color_jitter", {{"brightness", 0.4}, {"contrast", 0.4}, {"saturation", Numbers{0.5, 1.5}}, {"hue", 0.1}}},
       "a08a82c5d6acef06"},
      {{"grayscale", {}}, "cf3632b46b33fe6c"},
      {{"random_grayscale", {{"p", 0.5}}}, "4c3d086668797b84"},
      {{"torchvision_brightness", {{"factor", Numbers{0.5, 1.8}}}}, "173f740603e1e1e9"},
      {{"torchvision_contrast", {{"factor", Numbers{0, 2}}}}, "b74e8de65308d931"},
      {{"torchvision_saturation", {{"factor", Numbers{0, 3}}}}, "f44cea3a571724ce"},
      {{"torchvision_saturation", {{"factor", 0.99999}}}, "de868e17bdf0a6a8"},
      {{"torchvision_hue", {{"factor", Numbers{-0.5, 0.5}}}}, "ba2675a75c24d0a6"},
      {{"torchvision_color_jitter", {{"brightness", 0.8}, {"contrast", 0.8}, {"saturation", 0.8}, {"hue", 0.2}}},
       "d8ee502a3be4dd1c"},
      {{"torchvision_grayscale", {}}, "68554ef0dbd04a70"},
      {{"invert", {}}, "9a17d64c40630fc8"},
      {{"random_invert", {}}, "cd5c895611dfa73c"},
      {{"posterize", {{"bits", 3.0}}}, "a9a0828623380f43"},
      {{"random_posterize", {{"bits", 1.0}, {"p", 0.7}}}, "d8a77c724045e35f"},
      {{"solarize", {{"threshold", 100.5}}}, "dba491a5f1180fbb"},
      {{"random_solarize", {{"threshold", 256.0}}}, "8e030f647ce39403"},
      {{"equalize", {}}, "1b588232286c9a03"},
      {{"random_equalize", {}}, "044fe8e2cfea4185"},
      {{"autocontrast", {}}, "142fe0e5931e71da"},
      {{"random_autocontrast", {}}, "299e2cd041f56243"},
      {{"gamma", {{"gamma", Numbers{0.4, 2.5}}}}, "4569cfa47097016e"},
      {{"gamma", {{"gamma", 1.0}, {"gain", 1.7}}}, "8bc01170eef206fa"},
      {{"channel_permutation", {}}, "2c40b8b2bb736e2f"},
      {{"channel_dropout", {{"channels", Numbers{1, 3}}, {"fill", Numbers{10, 128, 255}}}}, "958ce016e44b867f"},
      {{"channel_affine", {{"scale", Numbers{0.5, -1.5, 2}}, {"bias", Numbers{-20, 255, 10}}}}, "c83a50a8095115fc"},
      {{"lighting", {{"alphastd", 1.0}}}, "3a4f2bfa0ca155d3"},
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
