#include "cli/planned_job.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cli/common_options.h"
#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::string_view kWanted = "numbers of tasks, such as 7 or 0-15,20";
constexpr std::string_view kOfEveryPart[] = {"--plan",   "--task",           "--merge",        "--threads",
                                             "--memory", "--store-endpoint", "--store-region", "--store-anonymous",
                                             "--json"};

constexpr std::string_view kOfMerge[] = {"--quarantine"};

TaskRange parse_range(const std::string& whole, std::string_view text) {
  const auto number = [&](std::string_view digits) {
    const bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_number) refuse_option("--task", whole, std::string(kWanted));
    return static_cast<std::size_t>(
        parse_integer<std::int64_t>("--task", digits, {0, std::numeric_limits<std::int32_t>::max()}));
  };
  const std::size_t dash = text.find('-');
  const TaskRange range = dash == std::string_view::npos
                              ? TaskRange{number(text), number(text)}
                              : TaskRange{number(text.substr(0, dash)), number(text.substr(dash + 1))};
  if (range.last < range.first) refuse_option("--task", whole, std::string(kWanted));
  return range;
}

std::vector<TaskRange> parse_tasks(const std::string& text) {
  std::vector<TaskRange> ranges;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    ranges.push_back(parse_range(text, std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return ranges;
}

bool is_among(std::string_view name, auto&& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

PlannedPart PlannedJobOptions::part() const {
  if (plan.empty()) return PlannedPart::kNone;
  if (merge) return PlannedPart::kMerge;
  return tasks.empty() ? PlannedPart::kPlan : PlannedPart::kTasks;
}

void add_planned_job_options(Command& command, PlannedJobOptions& options) {
  Option* const plan = add_text_option(
      command, "--plan", options.plan,
      "Only write to FILE how the work is divided into tasks, for many processes; give FILE to each of them");
  plan->option_text("FILE");
  Option* const task = add_parsed_option(command, "--task", options.tasks, parse_tasks,
                                         "Do these tasks of the plan, such as 7 or 0-15,20");
  task->option_text("LIST")->needs(plan);
  command.add_flag("--merge", options.merge, "Check the results of all tasks of the plan, and finish the job")
      ->needs(plan)
      ->excludes(task);
}

void require_not_with_plan(const Command& command, std::initializer_list<std::string_view> names) {
  for (const std::string& name : command.given()) {
    if (is_among(name, names)) fail(ErrorKind::kUsage, "--plan only writes a plan; leave {} out", name);
  }
}

void require_left_to_plan(const Command& command, std::initializer_list<std::string_view> and_these) {
  for (const std::string& name : command.given()) {
    if (is_among(name, kOfEveryPart) || is_among(name, and_these)) continue;
    if (is_among(name, kOfMerge)) {
      fail(ErrorKind::kUsage, "{} is for what all tasks found; leave it out of them, and give it with --merge", name);
    }
    fail(ErrorKind::kUsage,
         "{} was decided when the plan was made; leave it out of its tasks, and make another plan to "
         "change it",
         name);
  }
}

}  // namespace stoker
