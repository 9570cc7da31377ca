#include "stoker/plan/function_calls.h"

#include <utility>

#include "stoker/base/random.h"

namespace stoker {

FunctionCalls::FunctionCalls(const Plan& plan, std::stop_token stop) : plan_(plan) {
  takers_.resize(plan.views().size() - plan.output_count());
  for (const FunctionPlan& function : plan.functions()) {
    for (std::size_t value = 0; value < function.takes.size(); ++value) {
      takers_[function.takes[value] - plan.output_count()] = {functions_.size(), value};
    }
    functions_.push_back(open_function(function.spec, function.kinds, stop));
  }
}

void FunctionCalls::begin() {
  for (const auto& function : functions_) function->begin();
}

MutableBytes FunctionCalls::place(std::size_t view, const Shape& shape, const OutputPlaces& place) {
  if (view < plan_.output_count()) return place(view, shape);
  const Taker& taker = takers_[view - plan_.output_count()];
  const DType dtype = Plan::output_of(plan_.views()[view], shape).dtype;
  return functions_[taker.function]->take(taker.value, dtype, shape);
}

void FunctionCalls::run(const SampleDraw& draw, const OutputPlaces& place) {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const FunctionPlan& function = plan_.functions()[i];
    Random random(draw.seed, draw.epoch, draw.position, function.stream);
    FunctionSeed seed;
    for (std::uint32_t& word : seed) word = random.next_u32();
    functions_[i]->call(seed,
                        [&](std::size_t given, const Shape& shape) { return place(function.gives[given], shape); });
  }
}

std::int64_t FunctionCalls::inside_ns() const {
  std::int64_t ns = 0;
  for (const auto& function : functions_) ns += function->inside_ns();
  return ns;
}

void FunctionCalls::drop_scratch() {
  for (const auto& function : functions_) function->drop_scratch();
}

}  // namespace stoker
