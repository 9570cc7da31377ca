// Indexes and verifies a data set by many processes, on one machine or on many: each shard is a task of a plan.
#pragma once

#include <string>
#include <vector>

#include "stoker/pack/index_job.h"
#include "stoker/pack/pack_plan.h"
#include "stoker/pack/task_records.h"
#include "stoker/pack/verify_job.h"

namespace stoker {

/// Each writes a plan, unless it is there, with what the options say of the samples: not where indexes lie, nor how
/// much memory there is. Throws as find_shards(), and kUsage where another plan has the name.
PlanSummary plan_index(const std::vector<std::string>& data, const std::string& plan, const IndexJobOptions& options);
PlanSummary plan_verify(const std::vector<std::string>& data, const std::string& plan, const VerifyOptions& options);

/// Each does tasks of the plan, and tells what came of them, also of those that were done before. Throws as the job
/// does, kUsage for tasks that there are not, and kData for shards that are not the plan's. A shard that has changed
/// since it was verified is verified again.
IndexJobResult index_tasks(const std::vector<std::string>& data, const std::string& plan,
                           const std::vector<TaskRange>& tasks, const IndexJobOptions& how);
VerifyResult verify_tasks(const std::vector<std::string>& data, const std::string& plan,
                          const std::vector<TaskRange>& tasks, const VerifyOptions& how);

/// Each tells what came of all tasks, as the job would: of indexes, after making those anew that have been lost
/// meanwhile; of a verification, with what concerns the data set as a whole, and in place of what was found in a shard
/// that has changed since, that it has. Throws kUsage, naming the tasks, where some are not done.
IndexJobResult merge_index(const std::vector<std::string>& data, const std::string& plan, const IndexJobOptions& how);
VerifyResult merge_verify(const std::vector<std::string>& data, const std::string& plan, const VerifyOptions& how);

}  // namespace stoker
