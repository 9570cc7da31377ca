// What came of the tasks of a plan: an object for each in the folder "PLAN.done", which is there once its task is done.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/pack/job_plan.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

/// Numbers of tasks: first to last.
struct TaskRange {
  std::size_t first = 0, last = 0;
};

/// Threads: any.
class TaskRecords {
 public:
  /// Both must outlive it.
  TaskRecords(const Stores& stores, const JobPlan& plan);

  /// Nothing for a task that is not done; what is torn, or of another plan, does not count.
  std::optional<nlohmann::json> find(std::size_t task) const;
  void put(std::size_t task, const nlohmann::json& result) const;
  /// Of all tasks. Throws kUsage, naming the tasks that are not done, if there are any.
  std::vector<nlohmann::json> all() const;

  /// The tasks in these ranges, each once, in order. Throws kUsage for one that the plan does not have.
  std::vector<std::size_t> chosen(const std::vector<TaskRange>& ranges) const;

 private:
  Location place_of(std::size_t task) const;

  const Stores& stores_;
  const JobPlan& plan_;
  const Location folder_;
};

/// While it lives, no other process of this machine does the task: it waits for one that does. Without effect for a
/// plan in a store.
class TaskTurn {
 public:
  /// Throws kClosed when asked to stop while it waits, kIo.
  TaskTurn(const JobPlan& plan, std::size_t task, const std::stop_token& stop);
  ~TaskTurn();
  TaskTurn(const TaskTurn&) = delete;
  TaskTurn& operator=(const TaskTurn&) = delete;

 private:
  std::string path_;
  FileDescriptor lock_;
};

/// Of this machine, among those that may do the same task: for Stores::for_writer().
std::string writer_name();

/// "0, 3 to 5 and 9"; of many the first few.
std::string listed_tasks(const std::vector<std::size_t>& tasks);

}  // namespace stoker
