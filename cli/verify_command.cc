// `stoker verify`: checks that every byte is unchanged and every image can be decoded.
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
#include "cli/quarantine_list.h"
#include "stoker/base/units.h"
#include "stoker/pack/shard_plan.h"
#include "stoker/pack/verify_job.h"
#include "stoker/runtime/open_stores.h"
#include "stoker/storage/shown_url.h"

namespace stoker {
namespace {

struct VerifyCommandOptions {
  std::vector<std::string> data;
  StoreOptions store;
  std::string quarantine;
  VerifyOptions verify;
  PlannedJobOptions planned;
  bool json = false;
};

void run_verify(const VerifyCommandOptions& options, Interrupts& interrupts) {
  VerifyOptions verify_options = options.verify;
  std::optional<QuarantineList> quarantine;
  if (!options.quarantine.empty()) quarantine.emplace(options.quarantine);
  VerifyResult result;
  std::optional<PlanSummary> plan;
  double seconds = 0;
  {
    JobWatch watch(interrupts, "verify", "MB", kMegabyte);
    verify_options.stop = watch.stop();
    add_remote_stores(verify_options.stores, options.store, watch.stop());
    verify_options.progress = watch.progress();
    switch (const PlannedJobOptions& planned = options.planned; planned.part()) {
      case PlannedPart::kNone: result = verify(options.data, verify_options); break;
      case PlannedPart::kPlan: plan = plan_verify(options.data, planned.plan, verify_options); break;
      case PlannedPart::kTasks: result = verify_tasks(options.data, planned.plan, planned.tasks, verify_options); break;
      case PlannedPart::kMerge: result = merge_verify(options.data, planned.plan, verify_options); break;
    }
    seconds = watch.seconds();
    if (quarantine) quarantine->write(result.bad);
  }
  if (plan) return tell_plan(options.planned.plan, *plan, seconds, options.json);
  // A task may be of shards without samples.
  if (result.samples == 0 && result.bad.empty() && options.planned.part() != PlannedPart::kTasks) {
    fail(ErrorKind::kData, "there are no samples to verify in {}", shown_urls(options.data));
  }
  if (options.json) {
    write_json({{"samples", result.samples},
                {"shards", result.shards},
                {"indexed_shards", result.indexed},
                {"bytes", result.bytes},
                {"seconds", seconds},
                {"bad", bad_samples_json(result.bad)},
                {"concealed", bad_samples_json(result.concealed)}});
  } else {
    std::string text =
        result.samples == 0
            ? std::string("There are no samples to verify.\n")
            : fmt::format("{} in {} ({}) read in {}; checksums are known for {}\n", counted(result.samples, "sample"),
                          counted(result.shards, "shard"), format_size(static_cast<double>(result.bytes)),
                          format_duration(seconds), counted(result.indexed, "shard"));
    if (result.current > 0) text += fmt::format("{} done before.\n", counted(result.current, "task"));
    text += bad_samples_text("Concealed by decoders", result.concealed) + bad_samples_text("Bad", result.bad);
    if (result.bad.empty()) text += "Nothing is bad.\n";
    write_output(text);
  }
  if (!result.bad.empty()) throw ExitStatus{kExitFailure};
}

}  // namespace

void add_verify_command(Parser& app, Interrupts& interrupts) {
  Command* command = app.add_subcommand("verify", "Check every byte, checksum and image of a data set");
  const auto options = std::make_shared<VerifyCommandOptions>();
  add_data_argument(*command, options->data);
  add_text_option(*command, "--index-dir", options->verify.index_folder, "Look for indexes in this folder first")
      ->option_text("DIR");
  add_text_option(*command, "--quarantine", options->quarantine, "Write the list of bad samples to a file")
      ->option_text("FILE");
  add_threads_option(*command, options->verify.threads);
  add_job_options(*command, options->verify.memory, options->verify.limits);
  add_field_options(*command, options->verify.fields);
  add_planned_job_options(*command, options->planned);
  add_store_options(*command, options->store);
  add_json_flag(*command, options->json);
  set_example(*command, "stoker verify packed");
  command->callback([options, command, &interrupts] {
    const PlannedPart part = options->planned.part();
    if (part == PlannedPart::kPlan) require_not_with_plan(*command, {"--quarantine"});
    if (part == PlannedPart::kTasks) require_left_to_plan(*command, {"--index-dir"});
    if (part == PlannedPart::kMerge) require_left_to_plan(*command, {"--index-dir", "--quarantine"});
    run_verify(*options, interrupts);
  });
}

}  // namespace stoker
