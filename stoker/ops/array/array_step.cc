#include "stoker/ops/array/array_step.h"

namespace stoker {

void draw_array_steps(const std::vector<ArrayStep>& steps, const SampleDraw& draw, std::vector<DrawnArrayStep>& drawn) {
  drawn.clear();
  for (const ArrayStep& step : steps) {
    DrawnArrayStep& one = drawn.emplace_back();
    one.kind = step.kind;
    one.step = &step;
    one.a = step.low.front();
    one.b = step.high.front();
    if (!step.draws()) continue;
    Random random(draw.seed, draw.epoch, draw.position, step.stream);
    const bool happens = random.uniform() < step.p;
    one.a = static_cast<float>(
        random.uniform(static_cast<double>(step.low.front()), static_cast<double>(step.high.front())));
    one.b = step.mean;
    one.key = random.next_u64();
    if (!happens) drawn.pop_back();
  }
}

}  // namespace stoker
