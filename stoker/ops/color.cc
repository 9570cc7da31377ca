#include "stoker/ops/color.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"

namespace stoker {
namespace {

struct NormalizePreset {
  std::string_view name;
  double scale;
  std::array<double, 3> mean, std;
};
// Means and deviations of the training sets, as published with the models that use them.
constexpr NormalizePreset kPresets[] = {
    {"imagenet", 255, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}},
    {"cifar10", 255, {0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}},
    {"unit", 255, {0, 0, 0}, {1, 1, 1}},
};

// No sum in a pixel's color map may leave float32: what infinities give is not the same on every machine.
constexpr double kValueMax = 1e37;
constexpr double kPixelMax = 512;  // more than Y and the colour differences of a pixel weigh together

}  // namespace

ColorMap ColorChain::map() const {
  ColorMap map;
  map.from = from;
  for (std::size_t c = 0; c < from.size(); ++c) {
    map.scale[c] = static_cast<float>(scale[c]);
    map.bias[c] = static_cast<float>(bias[c]);
  }
  return map;
}

void apply_normalize(const OperatorCall& call, ColorChain& chain) {
  chain.computes = true;
  double scale = call.number("scale");
  std::vector<double> mean = call.numbers("mean"), std = call.numbers("std");
  if (const std::string& name = call.text("preset"); name != "none") {
    const auto* preset =
        std::find_if(std::begin(kPresets), std::end(kPresets), [&](const auto& p) { return p.name == name; });
    if (scale != 255 || mean != std::vector<double>{0} || std != std::vector<double>{1}) {
      fail(ErrorKind::kUsage, "normalize: preset='{}' says what mean, std and scale are: leave these out, or preset",
           name);
    }
    scale = preset->scale;
    mean.assign(preset->mean.begin(), preset->mean.end());
    std.assign(preset->std.begin(), preset->std.end());
  }
  for (std::size_t c = 0; c < chain.from.size(); ++c) {
    const double m = mean[mean.size() == 1 ? 0 : c], s = std[std.size() == 1 ? 0 : c];
    chain.scale[c] = chain.scale[c] / (scale * s);
    chain.bias[c] = (chain.bias[c] / scale - m) / s;
    if (!(std::abs(chain.scale[c]) * kPixelMax + std::abs(chain.bias[c]) <= kValueMax)) {
      fail(ErrorKind::kUsage, "normalize: together with the ones before it, it gives values that float32 cannot hold");
    }
  }
}

void apply_channel_order(const OperatorCall& call, ColorChain& chain) {
  if (call.text("order") == "rgb") return;
  std::swap(chain.from[0], chain.from[2]);
  std::swap(chain.scale[0], chain.scale[2]);
  std::swap(chain.bias[0], chain.bias[2]);
}

}  // namespace stoker
