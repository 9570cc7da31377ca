#include "stoker/runtime/report/headspace.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoker {

double Headspace::loading_s() const { return std::max(with_loading_s - alone.mean_s, 0.0); }

std::string Headspace::text() const {
  std::string text = fmt::format("With its batch ready, a step took {} (half of {} steps: {} to {})",
                                 step_text(alone.mean_s), alone.count, step_text(alone.low_s), step_text(alone.high_s));
  if (with_loading_s <= 0) return text + ".";
  return text +
         fmt::format("; with loading, {}: loading costs {:.0f}% of a step.", step_text(with_loading_s), 100 * share());
}

}  // namespace stoker
