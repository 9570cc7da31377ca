// random_erasing: boxes of random area and shape. The distribution is torchvision's and timm's, which give a box up
// after ten attempts that do not fit.
#include <algorithm>
#include <cmath>

#include "stoker/base/distributions.h"
#include "stoker/base/error.h"
#include "stoker/base/portable_math.h"
#include "stoker/ops/erase/erase_operator.h"

namespace stoker {
namespace {

constexpr int kErasingAttempts = 10;

class RandomErasing final : public EraseOperator {
 public:
  explicit RandomErasing(const OperatorCall& call)
      : p_(call.number("p")),
        area_min_(call.numbers("scale")[0]),
        area_max_(call.numbers("scale")[1]),
        log_ratio_min_(portable_log(call.numbers("ratio")[0])),
        log_ratio_max_(portable_log(call.numbers("ratio")[1])),
        value_(erase_value(call)),
        mode_(call.text("mode") == "const"  ? Mode::kConst
              : call.text("mode") == "rand" ? Mode::kBoxColor
                                            : Mode::kPixels),
        count_min_(call.integer("min_count")),
        count_max_(call.integer("max_count")) {
    if (area_min_ > area_max_ || log_ratio_min_ > log_ratio_max_) {
      fail(ErrorKind::kUsage, "scale and ratio must be given as [least, largest]");
    }
    if (count_min_ > count_max_) {
      fail(ErrorKind::kUsage, "min_count is {}, above max_count, which is {}", count_min_, count_max_);
    }
    if (mode_ != Mode::kConst && value_ != std::array<float, 3>{}) {
      fail(ErrorKind::kUsage, "a value is for mode 'const'; mode '{}' writes random ones", call.text("mode"));
    }
  }

  void draw(Random& random, ImageSize size, EraseSteps& steps) const override {
    if (random.uniform() >= p_) return;
    const auto choices = static_cast<std::uint64_t>(count_max_ - count_min_) + 1;
    const int count = count_min_ + (choices == 1 ? 0 : static_cast<int>(random.below(choices)));
    for (int i = 0; i < count; ++i) draw_box(random, size, count, steps);
  }

  int steps_max() const override { return count_max_; }
  bool writes_deviates() const override { return mode_ != Mode::kConst; }

 private:
  enum class Mode : std::uint8_t { kConst, kBoxColor, kPixels };

  void draw_box(Random& random, ImageSize size, int count, EraseSteps& steps) const {
    const double area = static_cast<double>(size.width) * size.height / count;
    for (int attempt = 0; attempt < kErasingAttempts; ++attempt) {
      const double box_area = area * random.uniform(area_min_, area_max_);
      const double ratio = portable_exp(random.uniform(log_ratio_min_, log_ratio_max_));
      const double height = std::nearbyint(std::sqrt(box_area * ratio));
      const double width = std::nearbyint(std::sqrt(box_area / ratio));
      if (!(height < size.height && width < size.width)) continue;
      add_box(random, size, static_cast<int>(width), static_cast<int>(height), steps);
      return;
    }
  }

  void add_box(Random& random, ImageSize size, int width, int height, EraseSteps& steps) const {
    const auto y = static_cast<int>(random.below(static_cast<std::uint64_t>(size.height - height) + 1));
    const auto x = static_cast<int>(random.below(static_cast<std::uint64_t>(size.width - width) + 1));
    if (width == 0 || height == 0) return;
    EraseStep& step = steps.add();
    step.x = x;
    step.y = y;
    step.width = width;
    step.height = height;
    std::copy(value_.begin(), value_.end(), step.value);
    if (mode_ == Mode::kBoxColor) {
      for (float& value : step.value) value = static_cast<float>(draw_normal(random));
    }
    if (mode_ == Mode::kPixels) {
      step.noise = true;
      step.key = random.next_u64();
    }
  }

  double p_, area_min_, area_max_, log_ratio_min_, log_ratio_max_;
  std::array<float, 3> value_;
  Mode mode_;
  int count_min_, count_max_;
};

}  // namespace

std::unique_ptr<EraseOperator> make_random_erasing(const OperatorCall& call) {
  return std::make_unique<RandomErasing>(call);
}

}  // namespace stoker
