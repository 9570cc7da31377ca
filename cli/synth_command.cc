// `stoker synth`: creates a data set of procedural images, for trials.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/json_output.h"
#include "cli/progress.h"
#include "stoker/base/clock.h"
#include "stoker/base/units.h"
#include "stoker/pack/synth/synth.h"

namespace stoker {
namespace {

struct SynthCommandOptions {
  std::string out;
  std::string kind = "imagenet", format = "folder";
  SynthOptions synth;
  std::int64_t classes = 0;  // 0: the usual number, or fewer where there are not as many images
  bool json = false;
};

void synth(const SynthCommandOptions& options, Interrupts& interrupts) {
  SynthOptions synth = options.synth;
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
  Command* command = app.add_subcommand("synth", "Create a data set of procedural images");
  const auto options = std::make_shared<SynthCommandOptions>();
  add_text_option(*command, "OUT", options->out,
                  "Folder to create; with --format tar also a file name that ends in .tar")
      ->required()
      ->option_text(" ");
  add_choice_option(*command, "--kind", options->kind, {"imagenet", "tiny"},
                    "JPEGs with ImageNet's statistics, or PNGs of 32 x 32; imagenet")
      ->option_text("imagenet|tiny");
  add_integer_option(*command, "--count", options->synth.count, {1}, fmt::format("Images; {}", options->synth.count));
  add_integer_option(*command, "--classes", options->classes, {1}, fmt::format("Classes; {}", options->synth.classes));
  add_seed_option(*command, options->synth.seed);
  add_choice_option(*command, "--format", options->format, {"folder", "tar"},
                    "Loose files by class, or tar shards; folder")
      ->option_text("folder|tar");
  add_threads_option(*command, options->synth.threads);
  add_json_flag(*command, options->json);
  set_example(*command, "stoker synth data --kind imagenet --count 1000");
  command->callback([options, &interrupts] { synth(*options, interrupts); });
}

}  // namespace stoker
