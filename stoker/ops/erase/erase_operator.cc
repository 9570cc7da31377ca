#include "stoker/ops/erase/erase_operator.h"

#include <utility>

#include "stoker/base/error.h"

namespace stoker {

void EraseChain::append(std::unique_ptr<const EraseOperator> op, std::uint64_t stream) {
  const int steps = steps_max_ + op->steps_max();
  if (steps > kEraseStepsMax) {
    fail(ErrorKind::kUsage, "the operators up to this one may erase {} places; the limit of a view is {}", steps,
         kEraseStepsMax);
  }
  steps_max_ = steps;
  operators_.push_back({std::move(op), stream});
}

void EraseChain::check(DType dtype) const {
  if (dtype != DType::kU8) return;
  for (const Operator& each : operators_) {
    if (each.op->writes_deviates()) {
      fail(
          ErrorKind::kUsage,
          "random_erasing writes normal deviates, which bytes cannot hold; add normalize or cast, or use mode 'const'");
    }
  }
}

void EraseChain::draw(ImageSize size, const SampleDraw& sample, EraseSteps& steps) const {
  steps.clear();
  for (const Operator& each : operators_) {
    Random random(sample.seed, sample.epoch, sample.position, each.stream);
    each.op->draw(random, size, steps);
  }
}

std::array<float, 3> erase_value(const OperatorCall& call) {
  const std::vector<double>& value = call.numbers("value");
  std::array<float, 3> color;
  for (std::size_t c = 0; c < color.size(); ++c) color[c] = static_cast<float>(value[value.size() == 1 ? 0 : c]);
  return color;
}

}  // namespace stoker
