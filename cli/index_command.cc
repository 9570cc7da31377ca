// `stoker index`: writes indexes for existing shards.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/bad_samples.h"
#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/exit_status.h"
#include "cli/job_watch.h"
#include "cli/json_output.h"
#include "cli/planned_job.h"
#include "cli/planned_text.h"
#include "stoker/base/units.h"
#include "stoker/pack/index_job.h"
#include "stoker/pack/shard_plan.h"
#include "stoker/runtime/open_stores.h"

namespace stoker {
namespace {

struct IndexCommandOptions {
  std::vector<std::string> data;
  StoreOptions store;
  IndexJobOptions index;
  PlannedJobOptions planned;
  bool no_decode = false, no_entry_points = false, json = false;
};

std::string index_text(const IndexJobResult& result, double seconds) {
  std::string text;
  if (result.shards + result.current == 0 && result.broken.empty()) {
    text = "There are no shards to index.\n";
  } else if (result.shards > 0) {
    text =
        fmt::format("{} in {} ({}) indexed in {}\n", counted(result.samples, "sample"), counted(result.shards, "shard"),
                    format_size(static_cast<double>(result.bytes)), format_duration(seconds));
  }
  if (result.current > 0) text += fmt::format("{} already had a good index.\n", counted(result.current, "shard"));
  if (result.concealed > 0) {
    text += fmt::format("{} with damaged parts, which decoders conceal.\n", counted(result.concealed, "image"));
  }
  std::vector<BadSample> broken;
  for (const BrokenShard& shard : result.broken) broken.push_back({shard.shard, "", 0, shard.reason});
  return text + bad_samples_text("Bad samples", result.bad) + bad_samples_text("Broken shards, not indexed", broken);
}

void run_index(const IndexCommandOptions& options, Interrupts& interrupts) {
  IndexJobOptions index_options = options.index;
  index_options.decode = !options.no_decode;
  index_options.entry_points = !options.no_entry_points;
  IndexJobResult result;
  std::optional<PlanSummary> plan;
  double seconds = 0;
  {
    JobWatch watch(interrupts, "index", "MB", kMegabyte);
    index_options.stop = watch.stop();
    add_remote_stores(index_options.stores, options.store, watch.stop());
    index_options.progress = watch.progress();
    switch (const PlannedJobOptions& planned = options.planned; planned.part()) {
      case PlannedPart::kNone: result = index_shards(options.data, index_options); break;
      case PlannedPart::kPlan: plan = plan_index(options.data, planned.plan, index_options); break;
      case PlannedPart::kTasks: result = index_tasks(options.data, planned.plan, planned.tasks, index_options); break;
      case PlannedPart::kMerge: result = merge_index(options.data, planned.plan, index_options); break;
    }
    seconds = watch.seconds();
  }
  if (plan) return tell_plan(options.planned.plan, *plan, seconds, options.json);
  if (options.json) {
    write_json({{"shards", result.shards},
                {"current_shards", result.current},
                {"samples", result.samples},
                {"bytes", result.bytes},
                {"seconds", seconds},
                {"concealed", result.concealed},
                {"bad", bad_samples_json(result.bad)},
                {"broken", broken_shards_json(result.broken)}});
  } else {
    write_output(index_text(result, seconds));
  }
  if (!result.broken.empty()) throw ExitStatus{kExitFailure};
}

}  // namespace

void add_index_command(Parser& app, Interrupts& interrupts) {
  Command* command =
      app.add_subcommand("index", "Write an index for each shard: the places and properties of its samples");
  const auto options = std::make_shared<IndexCommandOptions>();
  command->add_texts("SHARDS", options->data, "Shards of any format: paths, folders of them, lists, patterns, URLs")
      ->required()
      ->option_text(" ...");
  add_text_option(*command, "--index-dir", options->index.folder,
                  "Folder for the indexes; by default beside their shards")
      ->option_text("DIR");
  command->add_flag("--no-entry-points", options->no_entry_points,
                    "Store no entry points, from which JPEGs can be decoded in part");
  command->add_flag("--no-decode", options->no_decode, "Do not decode images to check whether they are sound");
  add_threads_option(*command, options->index.threads);
  add_job_options(*command, options->index.memory, options->index.limits);
  add_planned_job_options(*command, options->planned);
  add_store_options(*command, options->store);
  add_json_flag(*command, options->json);
  set_example(*command, "stoker index 'imagenet/train-{000000..000146}.tar'");
  command->callback([options, command, &interrupts] {
    const PlannedPart part = options->planned.part();
    if (part == PlannedPart::kTasks || part == PlannedPart::kMerge) require_left_to_plan(*command, {"--index-dir"});
    run_index(*options, interrupts);
  });
}

}  // namespace stoker
