#include "stoker/pack/pack_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"
#include "stoker/base/user_cache.h"
#include "stoker/format/manifest/listed_shard.h"
#include "stoker/format/open/find_shards.h"
#include "stoker/pack/checked_line.h"
#include "stoker/pack/pack_folder.h"
#include "stoker/pack/pack_source.h"
#include "stoker/pack/pack_trial.h"
#include "stoker/pack/pack_work.h"
#include "stoker/pack/planned_rows.h"
#include "stoker/pack/shard_writer.h"
#include "stoker/pack/source_state.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kCommand = "pack";
constexpr std::int64_t kTrialSamples = 256;

Json texts_json(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(to_json_text(text));
  return list;
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& text : list) texts.push_back(from_json_text(text));
  return texts;
}

/// Whether all of them are folders of loose files. A list is none: its fields lie in it, or are made of it when it is
/// read, and where its files are looked for is known only then.
bool are_loose(const std::vector<FoundShard>& shards) {
  return !shards.empty() &&
         std::all_of(shards.begin(), shards.end(), [](const FoundShard& shard) { return shard.format->is_folder(); });
}

std::vector<FoundShard> shards_in(const std::vector<std::string>& data, const PackOptions& options) {
  Manifests manifests(options.stores);
  return find_shards(data, options.stores, manifests, options.stop);
}

// --- What a plan says besides its tasks

Json contents_json(const PackContents& contents) {
  Json images = Json::array(), others = Json::array();
  for (const std::string& name : contents.images()) images.push_back(to_json_text(name));
  for (const auto& [name, occurrence] : contents.others()) others.push_back({to_json_text(name), occurrence.samples});
  return {{"samples", contents.samples()},
          {"images", images},
          {"others", others},
          {"has_labels", contents.has_labels()},
          {"classes", texts_json(contents.classes)}};
}

PackContents contents_of(const Json& json) {
  std::set<std::string, std::less<>> images;
  std::map<std::string, PackContents::Occurrence, std::less<>> others;
  for (std::string& name : texts_of(json.at("images"))) images.insert(std::move(name));
  for (const Json& entry : json.at("others")) {
    others[from_json_text(entry.at(0))].samples = entry.at(1).get<std::int64_t>();
  }
  PackContents contents(json.at("samples"), std::move(images), std::move(others), json.at("has_labels"));
  contents.classes = texts_of(json.at("classes"));
  return contents;
}

/// What makes the same of the same samples, anywhere.
Json choices_of(const PackOptions& options, const PackSource& source) {
  const FieldChoice fields = resolved(options.fields, source.samples().field_names());
  return {{"job", to_json_text(source.job() + ", planned")},
          {"format", options.format->name()},
          {"shard_bytes", options.shard_bytes},
          {"bad", to_string(options.bad)},
          {"pixels_max", options.limits.pixels_max},
          {"resize_short", options.transform.resize_short},
          {"quality", options.transform.quality.value_or(0)},
          {"raw", options.transform.raw},
          {"image", to_json_text(fields.image)},
          {"images", to_json_text(options.fields.image)},
          {"of_images", source.of_images()},
          {"contents", contents_json(source.contents())}};
}

/// `how` with what the plan has chosen.
PackOptions options_of(const Json& choices, const PackOptions& how) {
  PackOptions options = how;
  options.format = &writable_format(choices.at("format").get<std::string>());
  options.shard_bytes = choices.at("shard_bytes");
  options.bad = parse_pack_policy(choices.at("bad").get<std::string>());
  options.limits.pixels_max = choices.at("pixels_max");
  options.transform.resize_short = choices.at("resize_short");
  const int quality = choices.at("quality");
  if (quality > 0) options.transform.quality = quality;
  options.transform.raw = choices.at("raw");
  options.fields.image = from_json_text(choices.at("images"));
  return options;
}

/// What `read` makes of the plan's choices.
template <typename Read>
auto of_plan(const JobPlan& plan, const Read& read) {
  return as_of_this_version(plan, [&] { return read(plan.choices()); });
}

// --- Planning

/// Divides the samples into shards, in order.
class Planner {
 public:
  Planner(const std::vector<std::string>& data, const PackOptions& options)
      : options_(options), source_(data, options, user_cache_folder()), loose_(are_loose(shards_in(data, options))) {
    for (const auto& shard : source_.shards().shards()) {
      if (loose_) sources_.emplace(&shard->source(), sources_.size());
    }
    if (!options.transform.changes_pixels()) return;
    const PackWork work(options, source_.of_images(),
                        [this](std::int64_t label) { return source_.selection().label_of(label); });
    const PackTrial trial = try_packing(source_, work, options, std::min(source_.selection().size(), kTrialSamples));
    if (trial.before > 0) growth_ = static_cast<double>(trial.bytes) / static_cast<double>(trial.before);
  }

  const PackSource& source() const { return source_; }

  PlanSummary write(const Location& at) {
    JobPlanWriter writer(options_.stores, at, kCommand);
    RowFreezer rows(planned_, loose_);
    const PackSelection& selection = source_.selection();
    SampleRow row;
    for (std::int64_t position = 0; position < selection.size(); ++position) {
      const std::int64_t number = selection.sample_at(position);
      source_.samples().read(number, row);
      stop_if_asked(options_.stop, row.source->name());
      const bool is_taken = source_.takes(number, row);
      const std::int64_t label = selection.label_of(row.label);
      const double bytes =
          is_taken ? growth_ * static_cast<double>(bytes_untransformed(row, label, *options_.format)) : 0;
      const bool is_full =
          is_taken && kept_ > 0 &&
          (shard_bytes_ + bytes > static_cast<double>(shard_bytes_max(options_)) || keys_.contains(hash64(row.key)));
      if (is_full) end_task(writer, rows);
      rows.add(row, source_.number_in_shards(number), label, loose_ ? sources_.at(row.source) : 0);
      row.label = label;
      fingerprint_.add(row);
      task_.bytes += row.bytes();
      ++task_.samples;
      if (!is_taken) continue;
      ++kept_;
      shard_bytes_ += bytes;
      keys_.insert(hash64(row.key));
    }
    if (task_.samples > 0) end_task(writer, rows);
    Json choices = choices_of(options_, source_);
    choices["loose"] = loose_;
    choices["field_names"] = texts_json(planned_.field_names);
    writer.finish(choices);
    return summary_;
  }

 private:
  void end_task(JobPlanWriter& writer, RowFreezer& rows) {
    task_.name = fmt::format("shard-{:06}.{}", summary_.tasks, options_.format->ending());
    task_.mark = fingerprint_.value();
    writer.add(task_, rows.take());
    ++summary_.tasks;
    summary_.samples += task_.samples;
    summary_.bytes += task_.bytes;
    task_ = {};
    fingerprint_ = {};
    shard_bytes_ = 0;
    kept_ = 0;
    keys_.clear();
  }

  const PackOptions& options_;
  const PackSource source_;
  const bool loose_;
  std::map<const Source*, std::size_t> sources_;  // of loose files, to their numbers
  double growth_ = 1;                             // of samples, by what is done with their images
  PlannedData planned_;
  PlanSummary summary_;

  // Of the shard at hand:
  PlannedTask task_;
  Fingerprint fingerprint_;
  double shard_bytes_ = 0;
  std::int64_t kept_ = 0;
  std::unordered_set<std::uint64_t> keys_;  // hashes
};

// --- Doing tasks

/// What a task reads, as it was when the task began.
class TaskInputs {
 public:
  TaskInputs(const Stores& stores, const Location& plan) : stores_(stores), plan_(plan) {}

  /// Loose files, all of one task at once. Throws kData for one that is not as long as the plan has it.
  void add_files(const std::vector<std::pair<Location, std::uint64_t>>& files) {
    std::vector<Location> places;
    places.reserve(files.size());
    for (const auto& file : files) places.push_back(file.first);
    stores_.expect(places);
    for (const auto& [place, length] : files) {
      const std::uint64_t size = stores_.stat(place, "look at").size;
      if (size != length) {
        fail(ErrorKind::kData, "'{}' has {}, and had {} when '{}' was made; make a new plan for a new folder", place,
             counted(size, "byte"), length, plan_);
      }
      states_.emplace_back(stores_, place);
    }
  }
  void add_shard(const std::string& name) {
    const std::optional<ObjectFacts> facts = stores_.find(name);
    if (facts && facts->is_file()) states_.emplace_back(stores_, name);
  }

  void require_unchanged() const {
    for (const FileState& state : states_) state.require_unchanged();
  }

 private:
  const Stores& stores_;
  const Location& plan_;
  std::vector<FileState> states_;
};

class TaskWorker {
 public:
  TaskWorker(const std::vector<std::string>& data, const std::string& to, const JobPlan& plan, const PackOptions& how)
      : plan_(plan),
        options_(of_plan(plan, [&](const Json& choices) { return options_of(choices, how); })),
        contents_(of_plan(plan, [](const Json& choices) { return contents_of(choices.at("contents")); })),
        folder_(options_.stores, to,
                of_plan(plan, [](const Json& choices) { return from_json_text(choices.at("job")); }), true),
        work_(options_, of_plan(plan, [](const Json& choices) { return choices.at("of_images").get<bool>(); }),
              [](std::int64_t label) { return label; }),
        records_(options_.stores, plan) {
    const bool loose = of_plan(plan, [&](const Json& choices) {
      data_.field_names = texts_of(choices.at("field_names"));
      data_.image = from_json_text(choices.at("image"));
      return choices.at("loose").get<bool>();
    });
    open(data, loose);
  }

  /// Whether the pack is not finished yet, so that there may be something to do.
  bool has_work_left() const {
    if (!folder_.has_work_left()) return false;
    if (!options_.stores.find(folder_.location() / kJournalName)) folder_.mark();
    return true;
  }

  /// What an earlier call made of the task, if that is still there.
  std::optional<PackedShard> done_before(std::size_t task) const {
    const std::optional<Json> record = records_.find(task);
    if (!record) return std::nullopt;
    PackedShard packed = as_of_this_version(plan_, [&] { return packed_shard_of(*record); });
    const Location shard = folder_.location() / packed.shard.name;
    if (packed.shard.samples > 0 && !contradiction_of_file(packed.shard, options_.stores, shard).empty()) {
      return std::nullopt;
    }
    return packed;
  }

  PackedShard pack(std::size_t task, const std::function<void(std::int64_t)>& progress);

  std::vector<std::size_t> chosen(const std::vector<TaskRange>& ranges) const { return records_.chosen(ranges); }

 private:
  void open(const std::vector<std::string>& data, bool loose);
  TaskInputs inputs_of(PlannedRows& rows) const;
  [[noreturn]] void fail_other_data() const {
    fail(ErrorKind::kData,
         "the samples are not those for which '{}' was made: give the same data in the same order, or make a new plan "
         "for a new folder",
         plan_.location());
  }

  const JobPlan& plan_;
  const PackOptions options_;
  const PackContents contents_;
  const PackFolder folder_;
  const PackWork work_;
  const TaskRecords records_;
  PlannedData data_;
  std::shared_ptr<const ShardedDataset> samples_;  // of shards and lists
};

void TaskWorker::open(const std::vector<std::string>& data, bool loose) {
  const std::vector<FoundShard> shards = shards_in(data, options_);
  if (are_loose(shards) != loose) fail_other_data();
  std::vector<Location> places;
  places.reserve(shards.size());
  for (const FoundShard& shard : shards) places.push_back(shard.location);
  folder_.require_outside(places);
  if (loose) {
    for (const FoundShard& shard : shards) {
      data_.sources.push_back(shard.format->open(options_.stores.of(shard.location), shard.location));
    }
    return;
  }
  samples_ = open_dataset(data, options_.stores, {.cache_folder = user_cache_folder(), .images = options_.fields.image},
                          options_.stop);
  data_.samples = samples_.get();
}

TaskInputs TaskWorker::inputs_of(PlannedRows& rows) const {
  TaskInputs inputs(options_.stores, plan_.location());
  SampleRow row;
  std::vector<std::pair<Location, std::uint64_t>> files;
  std::set<std::string> shards;
  while (rows.next(row)) {
    if (data_.samples) shards.insert(row.source->name());
    for (const SampleField& field : row.fields) {
      if (!field.part.empty()) files.emplace_back(row.source->name_of(field.part), field.length);
    }
  }
  inputs.add_files(files);
  for (const std::string& shard : shards) inputs.add_shard(shard);
  return inputs;
}

PackedShard TaskWorker::pack(std::size_t task, const std::function<void(std::int64_t)>& progress) {
  const TaskTurn turn(plan_, task, options_.stop);
  if (std::optional<PackedShard> packed = done_before(task)) return *packed;
  const PlannedTask& planned = plan_.tasks()[task];
  if (!is_plain_name(planned.name)) {
    fail(ErrorKind::kData, "a shard's name in '{}' leads out of the folder", plan_.location());
  }
  const std::string frozen = plan_.frozen(task);
  PlannedRows all(data_, frozen);
  const TaskInputs inputs = inputs_of(all);
  if (all.fingerprint().value() != planned.mark || all.fingerprint().samples() != planned.samples) fail_other_data();

  PlannedRows rows(data_, frozen);
  SampleSweep sweep(rows, work_.sweeping(), [this] { return work_.begin(); });
  std::optional<ShardWriter> writer;
  PackedShard packed;
  std::int64_t position = 0;
  while (SweptSample* sample = sweep.next()) {
    note_findings(*sample, all.numbers()[static_cast<std::size_t>(position)], packed);
    if (!work_.leaves_out(*sample)) {
      if (!writer) {
        writer.emplace(*options_.format, options_.stores, folder_.location() / planned.name, contents_);
      }
      writer->add(*sample);
    }
    if (progress) progress(++position);
  }
  inputs.require_unchanged();
  if (writer) {
    packed.shard = writer->finish();
    packed.fields = writer->field_names();
  }
  packed.next_position = position;
  records_.put(task, to_json(packed));
  return packed;
}

/// Finishes the pack of which all tasks are done, unless no sample is left. Throws kUsage for tasks that are not.
Manifest merged(const JobPlan& job, const PackFolder& folder, const std::string& name, const PackOptions& options) {
  std::vector<PackedShard> shards;
  PackedShard left_over;  // of tasks whose samples were all left out
  std::vector<std::size_t> lost;
  const std::vector<Json> records = TaskRecords(options.stores, job).all();
  for (std::size_t task = 0; task < records.size(); ++task) {
    PackedShard packed = as_of_this_version(job, [&] { return packed_shard_of(records[task]); });
    if (packed.shard.samples == 0) {
      left_over.bad.insert(left_over.bad.end(), packed.bad.begin(), packed.bad.end());
      left_over.concealed += packed.concealed;
      continue;
    }
    if (!contradiction_of_file(packed.shard, options.stores, folder.location() / packed.shard.name).empty()) {
      lost.push_back(task);
    }
    shards.push_back(std::move(packed));
  }
  if (!lost.empty()) {
    const bool is_one = lost.size() == 1;
    fail(ErrorKind::kUsage, "{} missing or not what was packed; do {} again",
         is_one ? fmt::format("the shard of task {} is", lost.front())
                : fmt::format("the shards of tasks {} are", listed_tasks(lost)),
         is_one ? "this task" : "these tasks");
  }
  const PackContents contents = of_plan(job, [](const Json& choices) { return contents_of(choices.at("contents")); });
  Manifest made = manifest_of(shards, std::move(left_over), name, contents.classes);
  if (!made.shards.empty()) {
    folder.finish(std::move(made), *options.format, contents);
    made = *Manifest::read(options.stores, folder.location());
  }
  // What writers have left that were killed, on machines that may not come again.
  if (options.stores.find(folder.location())) options.stores.of(folder.location()).remove_unfinished(folder.location());
  return made;
}

}  // namespace

PlanSummary plan_pack(const std::vector<std::string>& data, const std::string& to, const std::string& plan,
                      const PackOptions& how) {
  require_sensible(how, to);
  PackOptions options = how;
  options.stores = how.stores.for_writer(writer_name());
  Planner planner(data, options);
  const PackFolder folder(options.stores, to, planner.source().job() + ", planned", true);
  folder.require_outside(places_of(planner.source().shards()));
  const bool has_work_left = folder.has_work_left();
  const PlanSummary summary = planner.write(plan);
  if (has_work_left && !options.stores.find(folder.location() / kJournalName)) folder.mark();
  return summary;
}

TasksResult pack_tasks(const std::vector<std::string>& data, const std::string& to, const std::string& plan,
                       const std::vector<TaskRange>& tasks, const PackOptions& how) {
  require_sensible(how, to);
  PackOptions own = how;
  own.stores = how.stores.for_writer(writer_name());
  const JobPlan job(own.stores, plan, kCommand);
  TaskWorker worker(data, to, job, own);
  TasksResult result;
  const std::vector<std::size_t> chosen = worker.chosen(tasks);
  if (!worker.has_work_left()) {
    result.current = static_cast<std::int64_t>(chosen.size());
    return result;
  }
  std::int64_t total = 0, before = 0;
  for (const std::size_t task : chosen) total += job.tasks()[task].samples;
  for (const std::size_t task : chosen) {
    const auto tell = [&](std::int64_t done) {
      if (how.progress) how.progress(before + done, total);
    };
    tell(0);
    if (worker.done_before(task)) {
      ++result.current;
    } else {
      const PackedShard packed = worker.pack(task, tell);
      ++result.done;
      result.samples += packed.shard.samples;
      result.bytes += packed.shard.bytes;
      for (const ManifestBad& bad : packed.bad) result.bad.push_back({job.tasks()[task].name, bad.key, 0, bad.reason});
    }
    before += job.tasks()[task].samples;
  }
  return result;
}

PackResult merge_pack(const std::vector<std::string>& data, const std::string& to, const std::string& plan,
                      const PackOptions& how) {
  require_sensible(how, to);
  const JobPlan job(how.stores, plan, kCommand);
  const PackOptions options = of_plan(job, [&](const Json& choices) { return options_of(choices, how); });
  const std::string name = of_plan(job, [](const Json& choices) { return from_json_text(choices.at("job")); });
  const PackFolder folder(options.stores, to, name, true);
  const Manifest manifest =
      folder.has_work_left() ? merged(job, folder, name, options) : *Manifest::read(options.stores, folder.location());
  if (options.stores.find(folder.location() / kJournalName)) folder.unmark();
  PackResult result = told_of(manifest);
  if (manifest.bad.empty()) return result;
  const auto samples = open_dataset(
      data, options.stores, {.cache_folder = user_cache_folder(), .images = options.fields.image}, options.stop);
  result.bad = bad_samples_of(manifest, *samples, folder.location());
  return result;
}

}  // namespace stoker
