#include "cli/planned_text.h"

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/json_output.h"
#include "stoker/base/units.h"
#include "stoker/storage/location.h"

namespace stoker {

void tell_plan(const std::string& plan, const PlanSummary& summary, double seconds, bool as_json) {
  if (as_json) {
    return write_json({{"plan", plan},
                       {"tasks", summary.tasks},
                       {"samples", summary.samples},
                       {"bytes", summary.bytes},
                       {"seconds", seconds}});
  }
  const std::string tasks = summary.tasks == 0
                                ? "there is nothing to do"
                                : fmt::format("{}, 0 to {}", counted(summary.tasks, "task"), summary.tasks - 1);
  const std::string samples = summary.samples == 0 ? "" : counted(summary.samples, "sample") + ", ";
  write_output(
      fmt::format("{}: {} ({}{})\n", Location(plan), tasks, samples, format_size(static_cast<double>(summary.bytes))));
}

}  // namespace stoker
