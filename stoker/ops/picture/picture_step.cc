#include "stoker/ops/picture/picture_step.h"

#include <algorithm>

namespace stoker {

int pass_length(std::span<const PictureStep> steps) {
  const auto joins = [](const PictureStep& step) { return traits_of(step.kind).run && !step.alone; };
  int length = 1;
  if (!joins(steps.front())) return length;
  const int most = static_cast<int>(steps.size()) < kPictureRunMax ? static_cast<int>(steps.size()) : kPictureRunMax;
  while (length < most && joins(steps[static_cast<std::size_t>(length)])) ++length;
  return length;
}

PictureStatistic statistic_of(std::span<const PictureStep> pass) {
  PictureStatistic most = PictureStatistic::kNone;
  for (const PictureStep& step : pass) most = std::max(most, traits_of(step.kind).statistic);
  return most;
}

}  // namespace stoker
