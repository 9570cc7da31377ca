// The options of a job that is planned, and then done task by task: which part of it a call is to do.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cli/parser.h"
#include "stoker/pack/task_records.h"

namespace stoker {

enum class PlannedPart {
  kNone,   // the whole job at once, without a plan
  kPlan,   // it is planned
  kTasks,  // tasks are done
  kMerge,  // what they made is put together
};

struct PlannedJobOptions {
  std::string plan;              // where it is, or is to be; empty: without a plan
  std::vector<TaskRange> tasks;  // that are to be done
  bool merge = false;

  PlannedPart part() const;
};

void add_planned_job_options(Command& command, PlannedJobOptions& options);

/// Throws kUsage for one of these options, which a call that only makes a plan would pass over.
void require_not_with_plan(const Command& command, std::initializer_list<std::string_view> names);

/// Throws kUsage for an option, among those given to the command, that is the plan's to decide once there is one, or
/// that only --merge takes: all but those of every part, and `and_these`.
void require_left_to_plan(const Command& command, std::initializer_list<std::string_view> and_these);

}  // namespace stoker
