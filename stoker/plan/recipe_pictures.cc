// The operators on pictures as a chain of calls.
#include <utility>

#include "stoker/plan/recipe.h"

namespace stoker {

Recipe& Recipe::brightness(std::vector<double> factor) { return add({"brightness", {{"factor", std::move(factor)}}}); }

Recipe& Recipe::contrast(std::vector<double> factor) { return add({"contrast", {{"factor", std::move(factor)}}}); }

Recipe& Recipe::saturation(std::vector<double> factor) { return add({"saturation", {{"factor", std::move(factor)}}}); }

Recipe& Recipe::hue(std::vector<double> factor) { return add({"hue", {{"factor", std::move(factor)}}}); }

Recipe& Recipe::color_jitter(std::vector<double> brightness, std::vector<double> contrast,
                             std::vector<double> saturation, std::vector<double> hue) {
  return add({"color_jitter",
              {{"brightness", std::move(brightness)},
               {"contrast", std::move(contrast)},
               {"saturation", std::move(saturation)},
               {"hue", std::move(hue)}}});
}

Recipe& Recipe::grayscale() { return add({"grayscale", {}}); }

Recipe& Recipe::random_grayscale(double p) { return add({"random_grayscale", {{"p", p}}}); }

Recipe& Recipe::torchvision_brightness(std::vector<double> factor) {
  return add({"torchvision_brightness", {{"factor", std::move(factor)}}});
}

Recipe& Recipe::torchvision_contrast(std::vector<double> factor) {
  return add({"torchvision_contrast", {{"factor", std::move(factor)}}});
}

Recipe& Recipe::torchvision_saturation(std::vector<double> factor) {
  return add({"torchvision_saturation", {{"factor", std::move(factor)}}});
}

Recipe& Recipe::torchvision_hue(std::vector<double> factor) {
  return add({"torchvision_hue", {{"factor", std::move(factor)}}});
}

Recipe& Recipe::torchvision_color_jitter(std::vector<double> brightness, std::vector<double> contrast,
                                         std::vector<double> saturation, std::vector<double> hue) {
  return add({"torchvision_color_jitter",
              {{"brightness", std::move(brightness)},
               {"contrast", std::move(contrast)},
               {"saturation", std::move(saturation)},
               {"hue", std::move(hue)}}});
}

Recipe& Recipe::torchvision_grayscale() { return add({"torchvision_grayscale", {}}); }

Recipe& Recipe::invert() { return add({"invert", {}}); }

Recipe& Recipe::random_invert(double p) { return add({"random_invert", {{"p", p}}}); }

Recipe& Recipe::posterize(int bits) { return add({"posterize", {{"bits", double(bits)}}}); }

Recipe& Recipe::random_posterize(int bits, double p) {
  return add({"random_posterize", {{"bits", double(bits)}, {"p", p}}});
}

Recipe& Recipe::solarize(double threshold) { return add({"solarize", {{"threshold", threshold}}}); }

Recipe& Recipe::random_solarize(double threshold, double p) {
  return add({"random_solarize", {{"threshold", threshold}, {"p", p}}});
}

Recipe& Recipe::equalize() { return add({"equalize", {}}); }

Recipe& Recipe::random_equalize(double p) { return add({"random_equalize", {{"p", p}}}); }

Recipe& Recipe::autocontrast() { return add({"autocontrast", {}}); }

Recipe& Recipe::random_autocontrast(double p) { return add({"random_autocontrast", {{"p", p}}}); }

Recipe& Recipe::gamma(std::vector<double> gamma, double gain) {
  return add({"gamma", {{"gamma", std::move(gamma)}, {"gain", gain}}});
}

Recipe& Recipe::channel_permutation() { return add({"channel_permutation", {}}); }

Recipe& Recipe::channel_dropout(std::vector<double> channels, std::vector<double> fill, double p) {
  return add({"channel_dropout", {{"channels", std::move(channels)}, {"fill", std::move(fill)}, {"p", p}}});
}

Recipe& Recipe::channel_affine(std::vector<double> scale, std::vector<double> bias) {
  return add({"channel_affine", {{"scale", std::move(scale)}, {"bias", std::move(bias)}}});
}

Recipe& Recipe::lighting(double alphastd) { return add({"lighting", {{"alphastd", alphastd}}}); }
Recipe& Recipe::gaussian_blur(std::vector<double> kernel_size, std::vector<double> sigma) {
  return add({"gaussian_blur", {{"kernel_size", std::move(kernel_size)}, {"sigma", std::move(sigma)}}});
}

Recipe& Recipe::sharpness(std::vector<double> factor) { return add({"sharpness", {{"factor", std::move(factor)}}}); }

Recipe& Recipe::random_sharpness(std::vector<double> factor, double p) {
  return add({"random_sharpness", {{"factor", std::move(factor)}, {"p", p}}});
}

Recipe& Recipe::gaussian_noise(double mean, std::vector<double> sigma) {
  return add({"gaussian_noise", {{"mean", mean}, {"sigma", std::move(sigma)}}});
}

Recipe& Recipe::shot_noise(std::vector<double> photons) {
  return add({"shot_noise", {{"photons", std::move(photons)}}});
}

Recipe& Recipe::salt_and_pepper(std::vector<double> amount, std::vector<double> ratio) {
  return add({"salt_and_pepper", {{"amount", std::move(amount)}, {"ratio", std::move(ratio)}}});
}

Recipe& Recipe::jpeg_degrade(std::vector<double> quality) {
  return add({"jpeg_degrade", {{"quality", std::move(quality)}}});
}

Recipe& Recipe::rotate(std::vector<double> degrees, std::string_view filter, std::vector<double> fill,
                       std::vector<double> center) {
  return add({"rotate",
              {{"degrees", std::move(degrees)},
               {"filter", std::string(filter)},
               {"fill", std::move(fill)},
               {"center", std::move(center)}}});
}

Recipe& Recipe::random_rotation(std::vector<double> degrees, std::string_view filter, std::vector<double> fill,
                                std::vector<double> center) {
  return add({"random_rotation",
              {{"degrees", std::move(degrees)},
               {"filter", std::string(filter)},
               {"fill", std::move(fill)},
               {"center", std::move(center)}}});
}

Recipe& Recipe::affine(double angle, std::vector<double> translate, double scale, std::vector<double> shear,
                       std::string_view filter, std::vector<double> fill, std::vector<double> center) {
  return add({"affine",
              {{"angle", angle},
               {"translate", std::move(translate)},
               {"scale", scale},
               {"shear", std::move(shear)},
               {"filter", std::string(filter)},
               {"fill", std::move(fill)},
               {"center", std::move(center)}}});
}

Recipe& Recipe::random_affine(std::vector<double> degrees, std::vector<double> translate, std::vector<double> scale,
                              std::vector<double> shear, std::string_view filter, std::vector<double> fill,
                              std::vector<double> center) {
  return add({"random_affine",
              {{"degrees", std::move(degrees)},
               {"translate", std::move(translate)},
               {"scale", std::move(scale)},
               {"shear", std::move(shear)},
               {"filter", std::string(filter)},
               {"fill", std::move(fill)},
               {"center", std::move(center)}}});
}

Recipe& Recipe::shear_x(std::vector<double> factor, std::string_view filter, std::vector<double> fill) {
  return add({"shear_x", {{"factor", std::move(factor)}, {"filter", std::string(filter)}, {"fill", std::move(fill)}}});
}

Recipe& Recipe::shear_y(std::vector<double> factor, std::string_view filter, std::vector<double> fill) {
  return add({"shear_y", {{"factor", std::move(factor)}, {"filter", std::string(filter)}, {"fill", std::move(fill)}}});
}

Recipe& Recipe::translate_x(std::vector<double> pixels, std::vector<double> fraction, std::string_view filter,
                            std::vector<double> fill) {
  return add({"translate_x",
              {{"pixels", std::move(pixels)},
               {"fraction", std::move(fraction)},
               {"filter", std::string(filter)},
               {"fill", std::move(fill)}}});
}

Recipe& Recipe::translate_y(std::vector<double> pixels, std::vector<double> fraction, std::string_view filter,
                            std::vector<double> fill) {
  return add({"translate_y",
              {{"pixels", std::move(pixels)},
               {"fraction", std::move(fraction)},
               {"filter", std::string(filter)},
               {"fill", std::move(fill)}}});
}

Recipe& Recipe::perspective(std::vector<double> endpoints, std::vector<double> startpoints, std::string_view filter,
                            std::vector<double> fill) {
  return add({"perspective",
              {{"endpoints", std::move(endpoints)},
               {"startpoints", std::move(startpoints)},
               {"filter", std::string(filter)},
               {"fill", std::move(fill)}}});
}

Recipe& Recipe::random_perspective(double distortion_scale, double p, std::string_view filter,
                                   std::vector<double> fill) {
  return add(
      {"random_perspective",
       {{"distortion_scale", distortion_scale}, {"p", p}, {"filter", std::string(filter)}, {"fill", std::move(fill)}}});
}

Recipe& Recipe::elastic(std::vector<double> alpha, std::vector<double> sigma, std::string_view filter,
                        std::vector<double> fill) {
  return add({"elastic",
              {{"alpha", std::move(alpha)},
               {"sigma", std::move(sigma)},
               {"filter", std::string(filter)},
               {"fill", std::move(fill)}}});
}

}  // namespace stoker
