// color_jitter: the four adjustments by random factors and in random order, with torchvision's arguments.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/ops/picture/adjustments.h"
#include "stoker/ops/picture/drawn_number.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

struct Jittered {
  std::string_view name;
  void (*add)(PictureSteps& steps, AdjustmentStyle style, double factor);
  double neutral;
};
constexpr std::array<Jittered, 4> kJittered = {{{"brightness", &add_brightness, 1},
                                                {"contrast", &add_contrast, 1},
                                                {"saturation", &add_saturation, 1},
                                                {"hue", &add_hue, 0}}};

// One number is the largest distance from what changes nothing; factors stay positive. Two are the range itself.
DrawnNumber jitter_range(const OperatorCall& call, const Jittered& jittered) {
  const std::vector<double>& given = call.numbers(jittered.name);
  if (given.size() == 2) return {call, jittered.name};
  const double away = given.front(), low = jittered.neutral - away;
  if (away < 0) fail(ErrorKind::kUsage, "{} is {}; a single number must not be negative", jittered.name, away);
  return {jittered.neutral > 0 ? std::max(low, 0.0) : low, jittered.neutral + away};
}

class ColorJitter final : public PictureOperator {
 public:
  ColorJitter(const OperatorCall& call, AdjustmentStyle style) : style_(style) {
    for (const Jittered& each : kJittered) ranges_.push_back(jitter_range(call, each));
  }

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    std::array<std::size_t, kJittered.size()> order{0, 1, 2, 3};
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
    for (const std::size_t i : order) {
      const DrawnNumber& range = ranges_[i];
      if (range.low() == kJittered[i].neutral && range.high() == kJittered[i].neutral) continue;
      kJittered[i].add(steps, style_, range.draw(random));
    }
  }
  PictureBounds bounds() const override { return {.steps = static_cast<int>(kJittered.size())}; }

 private:
  AdjustmentStyle style_;
  std::vector<DrawnNumber> ranges_;  // by kJittered
};

}  // namespace

std::unique_ptr<PictureOperator> make_color_jitter(const OperatorCall& call) {
  return std::make_unique<ColorJitter>(call, AdjustmentStyle::kStoker);
}
std::unique_ptr<PictureOperator> make_torchvision_color_jitter(const OperatorCall& call) {
  return std::make_unique<ColorJitter>(call, AdjustmentStyle::kTorchvision);
}

}  // namespace stoker
