// Packs a data set by many processes, on one machine or on many: a plan freezes which samples become which shard, each
// shard is a task, and the manifest follows when all tasks are done. What comes of it is the same, byte for byte, for
// any number of processes, any order of the tasks, and however often they are killed, repeated or done twice at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/pack/pack_job.h"
#include "stoker/pack/task_records.h"

namespace stoker {

struct PlanSummary {
  std::int64_t tasks = 0, samples = 0;
  std::uint64_t bytes = 0;  // of the samples' fields
};

/// Writes the plan to pack `data` with these options, unless it is there, and marks the folder `to` as one whose pack
/// is not whole. Nothing in the plan depends on where data or pack lie. Throws as pack() does, and kUsage where another
/// plan has the name.
PlanSummary plan_pack(const std::vector<std::string>& data, const std::string& to, const std::string& plan,
                      const PackOptions& how);

struct TasksResult {
  std::int64_t done = 0;     // now
  std::int64_t current = 0;  // that were done already
  std::int64_t samples = 0;  // that were packed now
  std::uint64_t bytes = 0;   // of their shards
  std::vector<BadSample> bad;
};

/// Does tasks of the plan, on the same data: what it finds there must be what the plan has found. Of `how`, what does
/// not change the pack counts: threads, memory, stop, progress, stores. Throws as pack() does, kUsage for tasks that
/// there are not, and kData for data that have changed.
TasksResult pack_tasks(const std::vector<std::string>& data, const std::string& to, const std::string& plan,
                       const std::vector<TaskRange>& tasks, const PackOptions& how);

/// Makes a pack of the shards of all tasks: looks at each, writes the manifest, and tells what pack() would;
/// writes nothing where no sample is left. Throws kUsage naming the tasks that are not done, or whose shards have been
/// lost or changed.
PackResult merge_pack(const std::vector<std::string>& data, const std::string& to, const std::string& plan,
                      const PackOptions& how);

}  // namespace stoker
