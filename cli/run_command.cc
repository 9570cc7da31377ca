// `stoker run`: feeds an emulated accelerator, or nothing, and says how well that went.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/accelerators.h"
#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/data_views.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/loader_options.h"
#include "cli/mlperf_report.h"
#include "cli/process_usage.h"
#include "cli/progress.h"
#include "cli/run_report.h"
#include "cli/run_span.h"
#include "stoker/base/clock.h"
#include "stoker/base/environment.h"
#include "stoker/base/isa.h"
#include "stoker/base/machine.h"
#include "stoker/base/units.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/device.h"
#include "stoker/order/launcher.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/loader_state.h"
#include "stoker/runtime/report/epoch_reports.h"
#include "stoker/runtime/report/output_paths.h"
#include "stoker/runtime/report/outputs_apart.h"
#include "stoker/runtime/share/step_barrier.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/file_source.h"
#include "stoker/tuner/report/tune_report.h"

namespace stoker {
namespace {

constexpr std::uint64_t kStateBytesMax = 64 << 10;
constexpr int kAcceleratorsMax = 1024;
constexpr std::string_view kRecords = "records";  // the recipe for data that are only read

struct RunOptions {
  std::vector<std::string> data;
  std::string recipe, isa;
  OpenOptions open;
  DataViewOptions views;
  LoaderOptions loader;
  std::string accelerator;
  int accelerators = 1;
  bool barrier = false;
  std::string summary;  // a file
  RunLimits limits;
  std::string state, save_state, tune_report;  // files
  bool explain = false;
  bool json = false;
};

/// The profile that the accelerator is given by, if it is.
const AcceleratorProfile* profile_of(const RunOptions& options) {
  return find_accelerator_profile(options.accelerator);
}

/// Whether the run is one of MLPerf Storage, which only reads, or is to be judged as one.
bool is_mlperf(const RunOptions& options) {
  return profile_of(options) && (options.recipe.empty() || options.recipe == kRecords || !options.summary.empty());
}

Recipe recipe_of(const RunOptions& options) {
  if (options.recipe.empty() && !profile_of(options)) {
    fail(ErrorKind::kUsage,
         "--recipe is required; give a name, such as imagenet-train, or a TOML file (only a profile of MLPerf Storage, "
         "--accelerator mlperf:NAME, runs without one)");
  }
  return load_recipe(options.recipe.empty() ? std::string(kRecords) : options.recipe, options.views);
}

void check_accelerators(const RunOptions& options) {
  if (!options.accelerator.empty()) {
    accelerator_step_seconds(options.accelerator, 1);
  } else if (options.accelerators > 1 || options.barrier || !options.summary.empty()) {
    fail(ErrorKind::kUsage,
         "--accelerators, --barrier and --summary have an effect only with --accelerator; give it, too");
  }
  if (!options.summary.empty() && !profile_of(options)) {
    fail(ErrorKind::kUsage, "--summary is for a profile such as {}, not for an accelerator of {}",
         accelerator_profiles().front().name, options.accelerator);
  }
}

LoaderOptions loader_options(const RunOptions& options, const Recipe& recipe) {
  LoaderOptions loader = options.loader;
  if (options.explain) {
    loader.tuned = [](const TuningMove& move) { write_error_line(fmt::format("{:6.1f} s: {}", move.at_s, move.why)); };
  }
  const bool is_of_profile = options.recipe.empty() && profile_of(options);
  set_default_batch(loader, recipe, is_of_profile ? profile_of(options)->batch : kDefaultBatch);
  // Each of them needs its next batch while it works on the last one.
  if (options.accelerators > 1 && !loader.prefetch) loader.prefetch = options.accelerators * kPrefetchDefault;
  loader.keep_step = false;  // an emulated accelerator's step is not that of a training
  loader.step_goes_on = !options.accelerator.empty();
  return loader;
}

struct Taken {
  std::int64_t epochs = 0, batches = 0;  // that began; that the accelerators were given
  std::vector<LoaderReport> reports;     // of the epochs that began
};

void tell_epoch(const LoaderReport& report) {
  set_status_line("");
  write_output(report.line() + "\n");
}

struct TakenStep {
  std::vector<BatchPtr> batches{};
  bool ends_epoch = false;
};

// As many batches as there are accelerators, or fewer, if the epoch or what may be taken ends before that.
TakenStep take_step(Loader& loader, int accelerators, std::int64_t most) {
  TakenStep step;
  while (static_cast<std::int64_t>(step.batches.size()) < std::min<std::int64_t>(accelerators, most)) {
    BatchPtr batch = loader.next();
    if (!batch) {
      step.ends_epoch = true;  // asked again, the loader would begin the next one
      break;
    }
    batch->wait();
    step.batches.push_back(std::move(batch));
  }
  return step;
}

// Takes what the limits allow, from `begin` on; batches are released once the accelerators are done with them. What was
// taken counts also where this throws.
void consume(Loader& loader, const LoaderPosition& begin, const RunLimits& limits, Accelerators* accelerators,
             bool tells_epochs, Taken& taken) {
  const std::int64_t batches = batches_to_take(limits, begin, loader.batches_per_epoch());
  Progress progress("run", "samples", batches * loader.batch_size());
  if (batches == 0) return;
  // An epoch is left before its end only where --batches says so: then the state is the same on all ranks.
  const std::int64_t most = limits.batches.value_or(std::numeric_limits<std::int64_t>::max());
  const bool at_end = begin.batch >= loader.batches_per_epoch();
  for (std::int64_t epoch = begin.epoch + (at_end ? 1 : 0); epoch < epochs_end(limits, begin) && taken.batches < most;
       ++epoch) {
    loader.start_epoch(epoch);
    ++taken.epochs;
    if (accelerators) accelerators->start_epoch();
    for (bool is_over = false; !is_over && taken.batches < most;) {
      const TakenStep step = take_step(loader, accelerators ? accelerators->count() : 1, most - taken.batches);
      is_over = step.ends_epoch;
      if (step.batches.empty()) break;
      const auto count = static_cast<std::int64_t>(step.batches.size());
      taken.batches += count;
      if (accelerators) accelerators->step(step.batches, count * loader.batch_size());
      progress.update(taken.batches * loader.batch_size());
    }
    taken.reports.push_back(loader.report(epoch));
    if (taken.reports.size() > EpochReports::kKept) taken.reports.erase(taken.reports.begin());
    if (tells_epochs && batches > loader.batches_per_epoch()) tell_epoch(taken.reports.back());
  }
}

std::string read_state(const std::string& path) {
  FileSource file(path, std::make_shared<InlineExecutor>());
  if (file.size() > kStateBytesMax) fail(ErrorKind::kUsage, "'{}' is too long to be a state", path);
  std::string text(file.size(), '\0');
  read_fully(file, 0, MutableBytes(reinterpret_cast<std::uint8_t*>(text.data()), text.size()));
  return text;
}

// What `use` throws is about the file of the state.
template <typename Use>
LoaderPosition with_state(const std::string& path, Use use) {
  if (path.empty()) return {};
  try {
    return use();
  } catch (const Error& error) {
    throw error.with_context(fmt::format("'{}'", path));
  }
}

RankOfWorld rank_of(const RunOptions& options) {
  return find_rank(options.loader.rank, options.loader.world, process_environment());
}

// What cannot be written is to be known before the work.
struct OutputFiles {
  OutputFiles(const RunOptions& options, const Dataset& dataset) {
    const std::initializer_list<OutputPath> outputs = {
        {"--audit", options.loader.audit},           {"--trace", options.loader.trace},
        {"--quarantine", options.loader.quarantine}, {"--save-state", options.save_state},
        {"--tune-report", options.tune_report},      {"--summary", options.summary}};
    check_outputs_differ(outputs);
    check_outputs_apart(outputs, options.data, dataset);
    if (!options.save_state.empty()) state.emplace(options.save_state);
    if (!options.tune_report.empty()) tune_report.emplace(options.tune_report);
    if (!options.summary.empty() && rank_of(options).rank == 0) summary.emplace(options.summary);
  }

  std::optional<AtomicFile> state, tune_report, summary;
};

void tell_addresses(const Loader& loader) {
  if (!loader.metrics_address().empty()) {
    write_error_line(fmt::format("metrics are served at http://{}/metrics", loader.metrics_address()));
  }
  if (!loader.dashboard_address().empty()) {
    write_error_line(fmt::format("the dashboard is at http://{}/", loader.dashboard_address()));
  }
}

// The loader's part of it.
void add_loader(RunReport& report, const Loader& loader, const Recipe& recipe, const Device* device) {
  report.tunes = loader.tunes();
  report.tuning = loader.tuning();
  report.threads = loader.threads();
  report.prefetch = loader.prefetch();
  report.io_depth = loader.io_depth();
  report.batch = loader.batch_size();
  report.cache = loader.disk_cache();
  report.transfer_index = Plan(recipe).stages().empty() ? 0 : loader.transfer_index();
  if (device) report.device = {device->name(), device->caveat()};
}

// Ranks that make other numbers of steps would wait for each other in vain.
void check_steps(StepBarrier& barrier, int world, std::int64_t steps) {
  const bool none_makes_more = barrier.latest(steps) == steps;
  const bool all_make_as_many = barrier.sum(static_cast<double>(steps)) == static_cast<double>(world * steps);
  if (none_makes_more && all_make_as_many) return;
  fail(ErrorKind::kUsage,
       "ranks that step together make the same number of steps, and this one would make {}; give all ranks the same "
       "--accelerators, --batches and --epochs",
       steps);
}

// Null where the ranks do not wait for each other.
std::unique_ptr<StepBarrier> make_barrier(const RunOptions& options, const Recipe& recipe, std::int64_t steps) {
  const RankOfWorld rank = rank_of(options);
  if (rank.world == 1 || (!options.barrier && options.summary.empty())) return nullptr;
  const std::string tail = options.loader.tail ? std::string(to_string(*options.loader.tail)) : recipe.tail();
  if (tail == to_string(Tail::kKeep)) {
    fail(ErrorKind::kUsage,
         "ranks that step together need the same number of batches, which --tail keep does not give; use --tail drop, "
         "wrap or pad");
  }
  auto barrier = std::make_unique<StepBarrier>(job_name(process_environment()), rank);
  check_steps(*barrier, rank.world, steps);
  return barrier;
}

// By its barrier, what all ranks have is summed up, so that all of them must call this.
MlperfReport mlperf_report(const RunOptions& options, const Loader& loader, const Accelerators& accelerators,
                           StepBarrier* barrier) {
  const Dataset& dataset = loader.dataset();
  const auto over_ranks = [&](double number) { return barrier ? barrier->sum(number) : number; };
  MlperfReport report{.profile = profile_of(options), .batch = loader.batch_size()};
  report.accelerators = static_cast<int>(over_ranks(accelerators.count()));
  report.samples = dataset.size();
  report.files = report.profile->workload->samples_per_file == 1
                     ? report.samples
                     : static_cast<std::int64_t>(dataset.shard_samples().size());
  report.steps_per_epoch = loader.batches_per_epoch() / accelerators.count();
  report.data_bytes = dataset.bytes();
  report.memory_bytes = usable_memory();
  report.cores = usable_cores();
  for (const EpochSteps& epoch : accelerators.log().epochs()) {
    report.epochs.push_back({.steps = epoch.steps,
                             .utilisation_percent = epoch.utilisation_percent,
                             .samples_per_s = over_ranks(epoch.samples_per_s())});
  }
  return report;
}

void write_and_commit(std::optional<AtomicFile>& file, const std::string& content) {
  if (!file) return;
  file->write(as_bytes(content));
  file->commit();
}

void write_report(const RunReport& report, bool json) {
  if (json) {
    write_json(report.json());
  } else {
    write_output(report.text());
  }
}

void run(const RunOptions& options, Interrupts& interrupts) {
  check_accelerators(options);
  const Recipe recipe = recipe_of(options);
  LoaderOptions loader_settings = loader_options(options, recipe);
  const std::string state = options.state.empty() ? "" : read_state(options.state);
  const LoaderPosition stands = with_state(options.state, [&] { return position_of_state(state); });
  loader_settings.epochs_end = epochs_end(options.limits, stands);
  const std::shared_ptr<const Dataset> dataset = open_views(options.data, options.open, options.views);
  OutputFiles files(options, *dataset);
  const std::int64_t began_ns = now_ns();
  const double cpu_s_before = process_cpu_s();
  Loader loader(dataset, recipe, loader_settings);
  tell_addresses(loader);
  RunReport report;
  report.has_store = !dataset->meters().empty();
  report.store_ns_before = loader.metrics()[Metric::kStoreNs];
  const LoaderPosition begin = with_state(options.state, [&] { return loader.load_state(state); });
  const std::int64_t batches = batches_to_take(options.limits, begin, loader.batches_per_epoch());
  if (batches == 0) {
    write_error_line(loader.batches_per_epoch() == 0
                         ? no_batches(loader.slice(), dataset->size() * options.loader.repeats)
                         : nothing_to_take(options.limits, begin, loader.batches_per_epoch(), options.state));
  }
  const std::unique_ptr<StepBarrier> barrier =
      make_barrier(options, recipe, (batches + options.accelerators - 1) / options.accelerators);
  const Interrupts::Scope stop(interrupts, [&] {
    loader.interrupt();
    if (barrier) barrier->interrupt();
  });
  const std::string start = time_of_day();
  std::optional<Accelerators> accelerators;
  if (!options.accelerator.empty()) {
    report.step_seconds = accelerator_step_seconds(options.accelerator, loader.batch_size());
    report.accelerators = options.accelerators;
    accelerators.emplace(options.accelerators, *report.step_seconds, barrier.get(),
                         [&interrupts](std::int64_t deadline_ns) { interrupts.wait_until(deadline_ns); });
  }
  Taken taken;
  std::exception_ptr failure;
  bool stopped = false;
  try {
    consume(loader, begin, options.limits, accelerators ? &*accelerators : nullptr, !options.json, taken);
  } catch (const Error& error) {
    stopped = interrupts.raised() && error.kind() == ErrorKind::kClosed;
    if (!stopped) failure = std::current_exception();
  } catch (const OutputClosed&) {
    failure = std::current_exception();
  }
  report.seconds = static_cast<double>(now_ns() - began_ns) * 1e-9;
  report.cpu_s = process_cpu_s() - cpu_s_before;
  write_and_commit(files.state, loader.state() + "\n");  // also after a failure: what was seen until then was seen
  if (failure) std::rethrow_exception(failure);
  write_and_commit(files.tune_report, tune_report_html(loader.tuning()));
  report.metrics = MetricsWindow(loader.metrics());
  report.limits = loader.report();
  report.epoch_limits = std::move(taken.reports);
  if (!stopped) loader.close();  // which waits for reads under way: the user who stopped it is told first
  report.epochs = taken.epochs;
  add_loader(report, loader, recipe, loader_settings.device.get());
  report.io = dataset->row(0).source->io_name();
  if (accelerators) report.utilisation = accelerators->utilisation();
  if (is_mlperf(options) && !stopped) {
    report.mlperf = mlperf_report(options, loader, *accelerators, barrier.get());
    report.mlperf->start = start;
    report.mlperf->end = time_of_day();
    write_and_commit(files.summary, report.mlperf->summary().dump(2) + "\n");
  }
  if (options.json || batches > 0) write_report(report, options.json);
  if (loader.lost_trace()) throw ExitStatus{kExitFailure};  // the log said why
  if (!stopped) return;
  write_error_line(fmt::format("stopped after {}{}", counted(taken.batches, "batch"),
                               files.state ? fmt::format("; resume with --state {}", options.save_state) : ""));
  throw ExitStatus{kExitInterrupted};
}

}  // namespace

void add_run_command(Parser& app, Interrupts& interrupts) {
  Command* command = app.add_subcommand("run", "Make batches, feed an accelerator, report rate and utilisation");
  const auto options = std::make_shared<RunOptions>();
  add_data_argument(*command, options->data);
  add_optional_recipe(*command, options->recipe, "Required, unless --accelerator is mlperf:NAME: then records; ");
  add_loader_options(*command, options->loader);
  add_integer_option(
      *command, "--epochs", options->limits.epochs, {1, kEpochsMax},
      "Stop after epoch E - 1; by default after the epoch in which the run begins, unless --batches is given")
      ->option_text("E");
  add_integer_option(*command, "--batches", options->limits.batches, {1},
                     "Stop after N batches, of one or more epochs");
  command->add_flag("--explain", options->explain, "Explain each change of a knob");
  add_text_option(*command, "--tune-report", options->tune_report,
                  "Draw the tuning as a page: rates, waits and knobs over time, and what was tried")
      ->option_text("FILE.html");
  add_open_options(*command, options->open);
  add_data_view_options(*command, options->views);
  add_text_option(
      *command, "--accelerator", options->accelerator,
      "Emulate an accelerator: the seconds of a step, or a profile of MLPerf Storage, such as mlperf:resnet50/h100")
      ->option_text("SECONDS|PROFILE");
  add_integer_option(*command, "--accelerators", options->accelerators, {1, kAcceleratorsMax},
                     "Emulate N accelerators that step together; each takes its own batch; 1");
  command->add_flag("--barrier", options->barrier, "Start each step together with the other ranks of this host");
  add_text_option(*command, "--summary", options->summary,
                  "Write summary.json as MLPerf Storage's DLIO does, with the AU of all ranks; implies --barrier")
      ->option_text("FILE");
  const auto select = [](const std::string& name) {
    select_isa(name);
    return name;
  };
  add_parsed_option(*command, "--isa", options->isa, select, "Instruction set to use, as STOKER_ISA; the best there is")
      ->option_text("TARGET");
  add_text_option(*command, "--save-state", options->save_state, "Write the position at which the run ends, as JSON")
      ->option_text("FILE");
  add_text_option(
      *command, "--state", options->state,
      "Resume from this position, on any number of ranks; --epochs counts from the beginning, --batches from here")
      ->option_text("FILE");
  add_json_flag(*command, options->json);
  set_example(*command,
              "stoker run imagenet/train --recipe imagenet-train --batch 400 --accelerator mlperf:resnet50/h100");
  command->callback([options, &interrupts] { run(*options, interrupts); });
}

}  // namespace stoker
