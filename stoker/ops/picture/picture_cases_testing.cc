#include "stoker/ops/picture/picture_cases_testing.h"

namespace stoker {

const std::vector<PictureCase>& picture_cases() {
  static const std::vector<PictureCase> cases = {
      {{"brightness", {{"factor", 0.7}}}, "9b76707e6b68882a"},
      {{"brightness", {{"factor", Numbers{0.5, 1.8}}}}, "6cd60eba4a317394"},
      {{"invert", {}}, "9a17d64c40630fc8"},
      {{"rotate", {{"degrees", 30.0}}}, "077cfd58a44c99ba"},
      {{"rotate", {{"degrees", Numbers{-200, 200}}, {"filter", "bilinear"}, {"fill", Numbers{10, 200, 90}}}}, "60220be666b3a3e8"},
      {{"random_rotation", {{"degrees", 180.0}, {"filter", "bilinear"}, {"center", Numbers{4, 2.5}}}}, "b5b77df193202c97"},
      {{"affine",
        {{"angle", -12.0},
         {"translate", Numbers{3.5, -2}},
         {"scale", 1.3},
         {"shear", Numbers{10, -7}},
         {"filter", "bilinear"},
         {"fill", 255.0}}},
       "5e169408285e40b6"},
      {{"random_affine",
        {{"degrees", 45.0},
         {"translate", Numbers{0.2, 0.3}},
         {"scale", Numbers{0.5, 2}},
         {"shear", Numbers{-20, 20, -10, 10}},
         {"fill", 128.0}}},
       "c9e4e9cab3ccdae1"},
      {{"shear_x", {{"factor", Numbers{-0.5, 0.5}}, {"filter", "bilinear"}, {"fill", 128.0}}}, "526c56b3c28965d2"},
      {{"shear_y", {{"factor", 0.3}}}, "7eecd6919256cea6"},
      {{"translate_x", {{"pixels", Numbers{-9, 9}}, {"filter", "bilinear"}}}, "c380f66518e26146"},
      {{"translate_y", {{"fraction", Numbers{-0.5, 0.5}}, {"fill", 77.0}}}, "7d7acd1e1de471ec"},
      {{"perspective",
        {{"endpoints", Numbers{2, 1, 20, -3, 30, 25, -4, 20}},
         {"startpoints", Numbers{0, 0, 24, 0, 24, 22, 0, 22}},
         {"filter", "nearest"}}},
       "46aad4979aa0e108"},
      {{"perspective", {{"endpoints", Numbers{9, 3, 6, 0, 20, 40, 0, 12}}, {"fill", 40.0}}}, "290880a83cce7233"},
      {{"random_perspective", {{"p", 0.8}, {"distortion_scale", 0.7}}}, "09453d7fb7600634"},
      {{"elastic", {}}, "75bca1fceaff5833"},
      {{"elastic",
        {{"alpha", Numbers{150, 40}}, {"sigma", Numbers{1, 4}}, {"filter", "nearest"}, {"fill", Numbers{255, 0, 128}}}},
       "a70de6572640a801"},
  };
  return cases;
}

}  // namespace stoker
