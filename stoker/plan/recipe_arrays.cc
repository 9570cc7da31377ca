// The operators on arrays as a chain of calls.
#include <string>
#include <utility>

#include "stoker/plan/recipe.h"

namespace stoker {

Recipe& Recipe::decode_array(std::string_view dtype, std::vector<double> shape, int most, double fill) {
  return add({"decode_array",
              {{"dtype", std::string(dtype)}, {"shape", std::move(shape)}, {"most", double(most)}, {"fill", fill}}});
}

Recipe& Recipe::array_crop(std::vector<double> size, std::string_view place, std::string_view smaller,
                           std::string_view around, double p) {
  return add({"array_crop",
              {{"size", std::move(size)},
               {"place", std::string(place)},
               {"smaller", std::string(smaller)},
               {"around", std::string(around)},
               {"p", p}}});
}

Recipe& Recipe::array_flip(std::vector<double> axes, double p) {
  return add({"array_flip", {{"axes", std::move(axes)}, {"p", p}}});
}

Recipe& Recipe::array_clip(double low, double high) { return add({"array_clip", {{"low", low}, {"high", high}}}); }

Recipe& Recipe::array_normalize(std::vector<double> mean, std::vector<double> std) {
  return add({"array_normalize", {{"mean", std::move(mean)}, {"std", std::move(std)}}});
}

Recipe& Recipe::array_standardize(std::string_view per) {
  return add({"array_standardize", {{"per", std::string(per)}}});
}

Recipe& Recipe::array_brightness(std::vector<double> factor, double p) {
  return add({"array_brightness", {{"factor", std::move(factor)}, {"p", p}}});
}

Recipe& Recipe::array_noise(std::vector<double> sigma, double mean, double p) {
  return add({"array_noise", {{"sigma", std::move(sigma)}, {"mean", mean}, {"p", p}}});
}

}  // namespace stoker
