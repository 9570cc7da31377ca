// cutout: boxes of a fixed size whose middles lie anywhere in the image, cut off at its border (DeVries and Taylor).
#include <algorithm>

#include "stoker/ops/erase/erase_operator.h"

namespace stoker {
namespace {

class Cutout final : public EraseOperator {
 public:
  explicit Cutout(const OperatorCall& call)
      : size_(size_argument(call)), count_(call.integer("count")), value_(erase_value(call)) {}

  void draw(Random& random, ImageSize size, EraseSteps& steps) const override {
    for (int i = 0; i < count_; ++i) {
      EraseStep& step = steps.add();
      place(random, size.height, size_.height, step.y, step.height);
      place(random, size.width, size_.width, step.x, step.width);
      std::copy(value_.begin(), value_.end(), step.value);
    }
  }

  int steps_max() const override { return count_; }

 private:
  static void place(Random& random, int length, int box, std::int32_t& begin, std::int32_t& size) {
    const int first = static_cast<int>(random.below(static_cast<std::uint64_t>(length))) - box / 2;
    begin = std::max(first, 0);
    size = std::min(first + box, length) - begin;
  }

  ImageSize size_;
  int count_;
  std::array<float, 3> value_;
};

}  // namespace

std::unique_ptr<EraseOperator> make_cutout(const OperatorCall& call) { return std::make_unique<Cutout>(call); }

}  // namespace stoker
