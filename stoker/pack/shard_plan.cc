#include "stoker/pack/shard_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/open/find_shards.h"
#include "stoker/pack/checked_line.h"
#include "stoker/pack/job_plan.h"
#include "stoker/pack/shard_version.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

// --- What is recorded of a task

Json bad_json(const std::vector<BadSample>& samples) {
  Json list = Json::array();
  for (const BadSample& bad : samples) {
    list.push_back({to_json_text(bad.shard), to_json_text(bad.key), bad.offset, to_json_text(bad.reason)});
  }
  return list;
}

void add_bad(const Json& list, std::vector<BadSample>& into) {
  for (const Json& bad : list) {
    into.push_back({from_json_text(bad.at(0)), from_json_text(bad.at(1)), bad.at(2), from_json_text(bad.at(3))});
  }
}

Json record_of(const IndexJobResult& result) {
  Json broken = Json::array();
  for (const BrokenShard& shard : result.broken) {
    broken.push_back({to_json_text(shard.shard), to_json_text(shard.reason)});
  }
  return {{"shards", result.shards},   {"current", result.current},
          {"samples", result.samples}, {"concealed", result.concealed},
          {"bytes", result.bytes},     {"bad", bad_json(result.bad)},
          {"broken", broken}};
}

void add(const Json& record, IndexJobResult& into) {
  into.shards += record.at("shards").get<std::int64_t>();
  into.current += record.at("current").get<std::int64_t>();
  into.samples += record.at("samples").get<std::int64_t>();
  into.concealed += record.at("concealed").get<std::int64_t>();
  into.bytes += record.at("bytes").get<std::uint64_t>();
  add_bad(record.at("bad"), into.bad);
  for (const Json& shard : record.at("broken")) {
    into.broken.push_back({from_json_text(shard.at(0)), from_json_text(shard.at(1))});
  }
}

Json record_of(const VerifyResult& result) {
  return {{"samples", result.samples}, {"shards", result.shards},     {"indexed", result.indexed},
          {"bytes", result.bytes},     {"bad", bad_json(result.bad)}, {"concealed", bad_json(result.concealed)}};
}

void add(const Json& record, VerifyResult& into) {
  into.samples += record.at("samples").get<std::int64_t>();
  into.shards += record.at("shards").get<std::int64_t>();
  into.indexed += record.at("indexed").get<std::int64_t>();
  into.bytes += record.at("bytes").get<std::uint64_t>();
  add_bad(record.at("bad"), into.bad);
  add_bad(record.at("concealed"), into.concealed);
}

// --- Plans and their tasks

std::vector<FoundShard> shards_in(const std::vector<std::string>& data, const Stores& stores,
                                  const std::stop_token& stop) {
  Manifests manifests(stores);
  return find_shards(data, stores, manifests, stop);
}

/// Of a folder, nothing.
std::uint64_t size_of(const Stores& stores, const Location& shard) {
  const ObjectFacts facts = stores.stat(shard, "look at");
  return facts.is_file() ? facts.size : 0;
}

template <typename Options>
PlanSummary write_plan(const std::vector<std::string>& data, const std::string& plan, std::string_view command,
                       const Json& choices, const Options& options) {
  const Stores stores = options.stores.for_writer(writer_name());
  JobPlanWriter writer(stores, plan, command);
  PlanSummary summary;
  for (const FoundShard& shard : shards_in(data, options.stores, options.stop)) {
    const std::uint64_t bytes = size_of(options.stores, shard.location);
    writer.add({.name = shard.location.name(), .bytes = bytes}, {});
    ++summary.tasks;
    summary.bytes += bytes;
  }
  writer.finish(choices);
  return summary;
}

/// The shards are those of the plan, as far as their names tell.
void require_same_shards(const JobPlan& plan, const std::vector<FoundShard>& shards) {
  bool same = shards.size() == plan.tasks().size();
  for (std::size_t i = 0; same && i < shards.size(); ++i) same = shards[i].location.name() == plan.tasks()[i].name;
  if (same) return;
  fail(ErrorKind::kData, "the shards are not those for which '{}' was made: give the same data, or make a new plan",
       plan.location());
}

/// What is recorded of each task, once it is. `work` makes it of the options for the task's shard alone, of the shard,
/// and of what was recorded before; it may leave that as it is.
template <typename Result, typename Options, typename Work>
Result do_tasks(const std::vector<std::string>& data, const JobPlan& plan, const std::vector<TaskRange>& tasks,
                Options options, const Work& work) {
  const std::vector<FoundShard> shards = shards_in(data, options.stores, options.stop);
  require_same_shards(plan, shards);
  const TaskRecords records(options.stores, plan);
  const std::vector<std::size_t> chosen = records.chosen(tasks);
  const auto progress = std::exchange(options.progress, {});
  std::uint64_t total = 0, before = 0;
  for (const std::size_t task : chosen) total += plan.tasks()[task].bytes;
  Result result;
  for (const std::size_t task : chosen) {
    const PlannedTask& planned = plan.tasks()[task];
    const Location& shard = shards[task].location;
    if (progress) {
      progress(before, total);
      options.progress = [&](std::uint64_t done, std::uint64_t /*of*/) {
        progress(before + std::min(done, planned.bytes), total);
      };
    }
    if (size_of(options.stores, shard) != planned.bytes) {
      fail(ErrorKind::kData, "'{}' had {} when '{}' was made; make a new plan", shard, counted(planned.bytes, "byte"),
           plan.location());
    }
    const TaskTurn turn(plan, task, options.stop);
    const std::optional<Json> before_it = records.find(task);
    options.only = std::vector<std::size_t>{task};
    const Json record = work(std::as_const(options), shards[task], before_it);
    if (record != before_it) records.put(task, record);
    as_of_this_version(plan, [&] { add(record, result); });
    before += planned.bytes;
  }
  return result;
}

/// What the plan's own JSON says of the options.
IndexJobOptions with_choices(IndexJobOptions options, const JobPlan& plan) {
  as_of_this_version(plan, [&] {
    options.decode = plan.choices().at("decode");
    options.entry_points = plan.choices().at("entry_points");
    options.limits.pixels_max = plan.choices().at("pixels_max");
  });
  return options;
}

VerifyOptions with_choices(VerifyOptions options, const JobPlan& plan) {
  as_of_this_version(plan, [&] {
    options.fields.image = from_json_text(plan.choices().at("image"));
    options.fields.label = from_json_text(plan.choices().at("label"));
    options.limits.pixels_max = plan.choices().at("pixels_max");
  });
  return options;
}

// --- The versions of shards that were verified

void put_version(Json& record, const std::string& version) { record["version"] = to_json_text(version); }

/// Whether what was recorded is of the shard as it is now. Nothing is known of what an earlier Stoker recorded.
bool is_of_version(const JobPlan& plan, const Json& record, const std::string& version) {
  return as_of_this_version(plan, [&] { return record.value("version", "") == to_json_text(version); });
}

/// Why what was recorded of a task's shard says nothing of what is there now, if that is so.
std::string changed_since(const JobPlan& plan, std::size_t task, const FoundShard& shard, const Json& record,
                          const VerifyOptions& options) {
  const std::uint64_t planned = plan.tasks()[task].bytes;
  const std::optional<ObjectFacts> facts = options.stores.find(shard.location);
  if (!facts) {
    return fmt::format("the shard is not there any more; it had {} when '{}' was made", counted(planned, "byte"),
                       plan.location());
  }
  const std::uint64_t size = facts->is_file() ? facts->size : 0;
  if (size != planned) {
    return fmt::format("the shard has {}, and had {} when '{}' was made; verify it by a new plan",
                       counted(size, "byte"), planned, plan.location());
  }
  if (is_of_version(plan, record, shard_version(shard, options.stores, options.stop))) return "";
  return fmt::format("the shard has changed since task {} of '{}' verified it; do that task again", task,
                     plan.location());
}

}  // namespace

PlanSummary plan_index(const std::vector<std::string>& data, const std::string& plan, const IndexJobOptions& options) {
  return write_plan(
      data, plan, "index",
      {{"decode", options.decode}, {"entry_points", options.entry_points}, {"pixels_max", options.limits.pixels_max}},
      options);
}

PlanSummary plan_verify(const std::vector<std::string>& data, const std::string& plan, const VerifyOptions& options) {
  return write_plan(data, plan, "verify",
                    {{"image", to_json_text(options.fields.image)},
                     {"label", to_json_text(options.fields.label)},
                     {"pixels_max", options.limits.pixels_max}},
                    options);
}

IndexJobResult index_tasks(const std::vector<std::string>& data, const std::string& plan,
                           const std::vector<TaskRange>& tasks, const IndexJobOptions& how) {
  IndexJobOptions options = how;
  options.stores = how.stores.for_writer(writer_name());
  const JobPlan job(options.stores, plan, "index");
  const auto work = [&](const IndexJobOptions& its, const FoundShard& /*shard*/, const std::optional<Json>& before) {
    const IndexJobResult made = index_shards(data, its);
    // What making the index told is kept.
    return before && made.current > 0 ? *before : record_of(made);
  };
  return do_tasks<IndexJobResult>(data, job, tasks, with_choices(options, job), work);
}

VerifyResult verify_tasks(const std::vector<std::string>& data, const std::string& plan,
                          const std::vector<TaskRange>& tasks, const VerifyOptions& how) {
  VerifyOptions options = how;
  options.stores = how.stores.for_writer(writer_name());
  options.whole = false;
  const JobPlan job(options.stores, plan, "verify");
  std::int64_t current = 0;
  const auto work = [&](const VerifyOptions& its, const FoundShard& shard, const std::optional<Json>& before) {
    // Before it is read: what is written to it meanwhile is another version.
    const std::string version = shard_version(shard, its.stores, its.stop);
    if (before && is_of_version(job, *before, version)) {
      ++current;
      return *before;
    }
    Json record = record_of(verify(data, its));
    put_version(record, version);
    return record;
  };
  auto result = do_tasks<VerifyResult>(data, job, tasks, with_choices(options, job), work);
  result.current = current;
  return result;
}

IndexJobResult merge_index(const std::vector<std::string>& data, const std::string& plan, const IndexJobOptions& how) {
  const JobPlan job(how.stores, plan, "index");
  require_same_shards(job, shards_in(data, how.stores, how.stop));
  IndexJobResult result;
  for (const Json& record : TaskRecords(how.stores, job).all()) as_of_this_version(job, [&] { add(record, result); });
  IndexJobResult anew = index_shards(data, with_choices(how, job));
  result.broken = std::move(anew.broken);  // as the shards are now
  result.bad.insert(result.bad.end(), anew.bad.begin(), anew.bad.end());
  return result;
}

VerifyResult merge_verify(const std::vector<std::string>& data, const std::string& plan, const VerifyOptions& how) {
  const JobPlan job(how.stores, plan, "verify");
  const std::vector<FoundShard> shards = shards_in(data, how.stores, how.stop);
  require_same_shards(job, shards);
  VerifyOptions options = with_choices(how, job);
  options.only = std::vector<std::size_t>();
  VerifyResult result = verify(data, options);  // of what is about no shard by itself
  const std::vector<Json> records = TaskRecords(how.stores, job).all();
  std::vector<BadSample> changed;
  for (std::size_t task = 0; task < records.size(); ++task) {
    const std::string why = changed_since(job, task, shards[task], records[task], options);
    if (why.empty()) {
      as_of_this_version(job, [&] { add(records[task], result); });
    } else {
      changed.push_back({shards[task].location.shown(), "", 0, why});
    }
  }
  result.bad.insert(result.bad.end(), changed.begin(), changed.end());
  return result;
}

}  // namespace stoker
