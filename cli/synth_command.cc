// `stoker synth`: creates a data set of procedural images, or of records like those of a training workload, for trials.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/command_text.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/json_output.h"
#include "cli/progress.h"
#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/device/accelerator_profiles.h"
#include "stoker/pack/synth/synth.h"
#include "stoker/pack/synth/synth_records.h"
#include "stoker/storage/location.h"

namespace stoker {
namespace {

struct SynthCommandOptions {
  std::string out;
  std::string kind = "imagenet", format = "folder";
  SynthOptions synth;
  std::string like;                   // a workload's name
  std::optional<std::int64_t> count;  // samples
  std::int64_t classes = 0;           // 0: the usual number, or fewer where there are not as many images
  bool json = false;
};

/// By which its last profile, whose accelerator is the least, reads them. Npz files are not looked for in folders,
/// where they are fields of samples.
std::string run_of_records(const std::string& out, const TrainingWorkload& workload, std::int64_t count) {
  const std::vector<AcceleratorProfile>& all = accelerator_profiles();
  const AcceleratorProfile& profile = *std::find_if(
      all.rbegin(), all.rend(), [&](const AcceleratorProfile& other) { return other.workload == &workload; });
  const std::string data = out + (workload.format == "npz" ? "/train/*.npz" : "/train");
  std::vector<std::string> words = {"stoker", "run", data, "--accelerator", std::string(profile.name)};
  if (profile.batch > count) words.insert(words.end(), {"--batch", std::to_string(count)});
  return command_text(words);
}

void synth_records(const SynthCommandOptions& options, Interrupts& interrupts) {
  const TrainingWorkload& workload = find_training_workload(options.like);
  if (!options.count) {
    fail(ErrorKind::kUsage, "--like needs --count, since all of {} is {}: {}", workload.name,
         format_size(workload.bytes()), counted(workload.samples(), "sample"));
  }
  SynthRecordsOptions synth{.workload = &workload,
                            .count = *options.count,
                            .seed = options.synth.seed,
                            .threads = options.synth.threads,
                            .stop = &interrupts.flag()};
  const std::int64_t began_ns = now_ns();
  SynthRecords made;
  {
    const Interrupts::Scope stop(interrupts, [] {});  // synthesize_records() checks the flag
    Progress progress("synth", "records", synth.count);
    synth.progress = [&progress](std::int64_t done, std::int64_t) { progress.update(done); };
    made = synthesize_records(options.out, synth);
  }
  const double seconds = static_cast<double>(now_ns() - began_ns) * 1e-9;
  const double share = static_cast<double>(synth.count) / static_cast<double>(workload.samples());
  if (options.json) {
    return write_json({{"out", options.out},
                       {"like", workload.name},
                       {"format", workload.format},
                       {"samples", synth.count},
                       {"files", made.files.files},
                       {"bytes", made.bytes},
                       {"official_samples", workload.samples()},
                       {"share", share},
                       {"seed", synth.seed},
                       {"seconds", seconds}});
  }
  write_output(
      fmt::format("{}: {} in {}, {}, in {}: {:.3g}% of {}'s {} ({})\n"
                  "Next: {}\n",
                  options.out, counted(synth.count, "sample"), counted(made.files.files, "file"),
                  format_size(static_cast<double>(made.bytes)), format_duration(seconds), 100 * share, workload.name,
                  format_count(static_cast<std::uint64_t>(workload.samples())), format_size(workload.bytes()),
                  run_of_records(options.out, workload, synth.count)));
}

void synth(const SynthCommandOptions& options, Interrupts& interrupts) {
  require_local(options.out, "synth");
  if (!options.like.empty()) return synth_records(options, interrupts);
  SynthOptions synth = options.synth;
  synth.count = options.count.value_or(synth.count);
  synth.kind = options.kind == "tiny" ? SynthKind::kTiny : SynthKind::kImagenet;
  synth.format = options.format == "tar" ? SynthFormat::kTar : SynthFormat::kFolder;
  synth.classes = options.classes > 0 ? options.classes : std::min(synth.classes, synth.count);
  synth.stop = &interrupts.flag();
  const std::int64_t began_ns = now_ns();
  {
    const Interrupts::Scope stop(interrupts, [] {});  // synthesize() checks the flag
    Progress progress("synth", "images", synth.count);
    synth.progress = [&progress](std::int64_t done, std::int64_t) { progress.update(done); };
    synthesize(options.out, synth);
  }
  const double seconds = static_cast<double>(now_ns() - began_ns) * 1e-9;
  if (options.json) {
    return write_json({{"out", options.out},
                       {"kind", options.kind},
                       {"format", options.format},
                       {"samples", synth.count},
                       {"classes", synth.classes},
                       {"seed", synth.seed},
                       {"seconds", seconds}});
  }
  write_output(fmt::format("{}: {} of {} in {}\n", options.out, counted(synth.count, "image"),
                           counted(synth.classes, "class"), format_duration(seconds)));
}

}  // namespace

void add_synth_command(Parser& app, Interrupts& interrupts) {
  Command* command = app.add_subcommand(
      "synth", "Create a data set of procedural images, or of records like those of a training workload");
  const auto options = std::make_shared<SynthCommandOptions>();
  add_text_option(*command, "OUT", options->out,
                  "Folder to create; with --format tar also a file name that ends in .tar")
      ->required()
      ->option_text(" ");
  Option* const kind = add_choice_option(*command, "--kind", options->kind, {"imagenet", "tiny"},
                                         "JPEGs with ImageNet's statistics, or PNGs of 32 x 32; imagenet")
                           ->option_text("imagenet|tiny");
  add_integer_option(
      *command, "--count", options->count, {1},
      fmt::format("Number of images; {}. With --like: number of samples, required", options->synth.count));
  Option* const classes = add_integer_option(*command, "--classes", options->classes, {1},
                                             fmt::format("Classes; {}", options->synth.classes));
  add_seed_option(*command, options->synth.seed);
  Option* const format = add_choice_option(*command, "--format", options->format, {"folder", "tar"},
                                           "Loose files by class, or tar shards; folder")
                             ->option_text("folder|tar");
  std::vector<std::string_view> names;
  for (const TrainingWorkload* workload : training_workloads()) names.push_back(workload->name);
  Option* const like =
      add_text_option(*command, "--like", options->like,
                      fmt::format("In place of images: records with the sizes and the format of MLPerf "
                                  "Storage's {}",
                                  fmt::join(names, ", ")))
          ->option_text("NAME");
  for (Option* const other : {kind, classes, format}) like->excludes(other);
  add_threads_option(*command, options->synth.threads);
  add_json_flag(*command, options->json);
  set_example(*command, "stoker synth data --kind imagenet --count 1000");
  command->callback([options, &interrupts] { synth(*options, interrupts); });
}

}  // namespace stoker
