// grid_mask: squares in a grid of random spacing, place and angle (Chen et al.).
#include <algorithm>
#include <cmath>

#include "stoker/base/error.h"
#include "stoker/base/portable_math.h"
#include "stoker/ops/erase/erase_operator.h"

namespace stoker {
namespace {

constexpr double kGridUnit = 1 << EraseGrid::kUnitBits;

class GridMask final : public EraseOperator {
 public:
  explicit GridMask(const OperatorCall& call)
      : period_min_(static_cast<int>(call.numbers("d").front())),
        period_max_(static_cast<int>(call.numbers("d").back())),
        ratio_(call.number("ratio")),
        degrees_max_(call.number("rotate")),
        p_(call.number("p")),
        value_(erase_value(call)) {
    if (period_min_ > period_max_) {
      fail(ErrorKind::kUsage, "d is [{}, {}]; the first number must not be above the second", period_min_, period_max_);
    }
  }

  void draw(Random& random, ImageSize size, EraseSteps& steps) const override {
    if (p_ < 1 && random.uniform() >= p_) return;
    const int period = period_min_ + below(random, period_max_ - period_min_ + 1);
    const int side = std::clamp(static_cast<int>(std::nearbyint(period * ratio_)), 1, period - 1);
    EraseStep& step = steps.add();
    step.width = size.width;
    step.height = size.height;
    std::copy(value_.begin(), value_.end(), step.value);
    EraseGrid& grid = step.grid;
    grid.period = std::int64_t{period} << EraseGrid::kUnitBits;
    grid.side = std::int64_t{side} << EraseGrid::kUnitBits;
    grid.begin_u = std::int64_t{below(random, period)} << EraseGrid::kUnitBits;
    grid.begin_v = std::int64_t{below(random, period)} << EraseGrid::kUnitBits;
    grid.cosine = 1 << EraseGrid::kUnitBits;
    if (degrees_max_ == 0) return;
    constexpr double kRadian = 0.017453292519943295;
    const SineCosine angle = portable_sine_cosine(random.uniform(0, degrees_max_) * kRadian);
    grid.cosine = static_cast<std::int32_t>(std::nearbyint(angle.cosine * kGridUnit));
    grid.sine = static_cast<std::int32_t>(std::nearbyint(angle.sine * kGridUnit));
  }

 private:
  static int below(Random& random, int count) {
    return count == 1 ? 0 : static_cast<int>(random.below(static_cast<std::uint64_t>(count)));
  }

  int period_min_, period_max_;
  double ratio_, degrees_max_, p_;
  std::array<float, 3> value_;
};

}  // namespace

std::unique_ptr<EraseOperator> make_grid_mask(const OperatorCall& call) { return std::make_unique<GridMask>(call); }

}  // namespace stoker
