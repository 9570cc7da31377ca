// `stoker doctor`: says what holds a training back, what would help, and which machine it needs.
#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/command_text.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/data_views.h"
#include "cli/doctor_text.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/loader_options.h"
#include "stoker/base/json_values.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/device.h"
#include "stoker/doctor/probe/machine_probe.h"
#include "stoker/doctor/probe/measure.h"
#include "stoker/doctor/probe/run_check.h"
#include "stoker/doctor/probe/step_probe.h"
#include "stoker/doctor/report/diagnosis_json.h"
#include "stoker/doctor/report/doctor_page.h"
#include "stoker/doctor/verdict/diagnosis.h"
#include "stoker/doctor/verdict/what_if.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/loader_option_table.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/shown_url.h"

namespace stoker {
namespace {

constexpr std::uint64_t kRunBytesMax = 1 << 20;

struct DoctorOptions {
  std::vector<std::string> data;
  std::string recipe, device, step;
  OpenOptions open;
  DataViewOptions views;
  LoaderOptions loader;
  std::vector<std::string> run_words;  // of the command line: options of loading, but for the batch, and of opening
  int gpus = 1;
  bool quick = false;
  std::vector<std::string> what_ifs, measured;
  std::string catalogue, html;
  bool json = false;
};

std::string read_text(const std::string& path) {
  FileSource file(path, std::make_shared<InlineExecutor>());
  if (file.size() > kRunBytesMax) fail(ErrorKind::kUsage, "'{}' is too long to be the report of a run", path);
  return read_whole(file);
}

// What `run --json` printed.
MeasuredRun read_run(const std::string& path) {
  try {
    const auto json = nlohmann::json::parse(read_text(path));
    MeasuredRun run{.name = std::filesystem::path(path).filename().string()};
    json.at("samples_per_s").get_to(run.samples_per_s);
    run.knobs.threads = whole_number<int>(json.at("threads"));
    run.knobs.prefetch = whole_number<int>(json.at("prefetch"));
    run.knobs.io_depth = whole_number<int>(json.at("io_depth"));
    if (json.at("device") != "cpu") run.knobs.transfer_index = whole_number<int>(json.at("transfer_index"));
    if (const auto batch = json.find("batch"); batch != json.end()) run.batch = whole_number<int>(*batch);
    if (const auto step = json.find("step_s"); step != json.end() && !step->is_null()) run.step_s = step->get<double>();
    if (const auto count = json.find("accelerators"); count != json.end()) {
      run.accelerators = whole_number<int>(*count);
    }
    if (!(run.samples_per_s > 0)) fail(ErrorKind::kUsage, "'{}' is of a run that delivered no samples", path);
    return run;
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kUsage, "'{}' is not what `stoker run --json` prints", path);
  }
}

// A run that shows whether the prediction is right.
std::string trial(const DoctorOptions& options, const Facts& facts) {
  std::vector<std::string> words = {"stoker", "run"};
  words.insert(words.end(), options.data.begin(), options.data.end());
  words.insert(words.end(), {"--recipe", options.recipe, "--batch", fmt::to_string(facts.run.batch), "--epochs", "2"});
  if (options.device != "cpu") words.insert(words.end(), {"--device", options.device});
  const auto add = [&words](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  add("--subset", options.views.subset);
  add("--labels", options.views.labels);
  add("--decode", options.views.decode);
  words.insert(words.end(), options.run_words.begin(), options.run_words.end());
  if (facts.step.seconds.known()) {
    words.insert(words.end(), {"--accelerator", fmt::format("{:.4g}", facts.step.seconds.median)});
    if (facts.step.gpus > 1) words.insert(words.end(), {"--accelerators", fmt::to_string(facts.step.gpus)});
  }
  words.emplace_back("--json");
  return command_text(words);
}

LoaderOptions loader_options(const DoctorOptions& options, const Recipe& recipe) {
  LoaderOptions loader = options.loader;
  loader_option("device").set(loader, options.device);
  set_default_batch(loader, recipe);
  return loader;
}

// As much of the facts as the words of a what-if are checked against, which is known at once.
Facts facts_before(const DoctorOptions& options, const Recipe& recipe, const LoaderOptions& loader) {
  Facts facts;
  facts.machine = probe_machine();
  facts.step.source = options.step;
  const Plan plan(recipe);
  for (std::size_t i = 0; i < plan.stages().size(); ++i) {
    facts.cpu.stages.push_back({.name = plan.stages()[i].name, .kind = std::string(kStages[i % kStages.size()].name)});
  }
  if (loader.device) {
    facts.copy.device = loader.device->name();
    facts.copy.bytes_per_sample.resize(kTransferIndexMax + 1);
  }
  return facts;
}

Facts measured_facts(const DoctorOptions& options, const std::shared_ptr<const Dataset>& dataset, const Recipe& recipe,
                     const LoaderOptions& loader, Interrupts& interrupts) {
  MeasureOptions question;
  question.data = options.data;
  question.dataset = dataset;
  question.open = options.open;
  question.recipe = recipe;
  question.loader = loader;
  question.step = options.step;
  question.gpus = options.gpus;
  question.quick = options.quick;
  std::stop_source stop;
  question.stop = stop.get_token();
  const bool shown = standard_error_is_terminal();
  question.progress = [shown](std::string_view probe, int done, int of) {
    if (!shown) return;
    set_status_line(probe.empty() ? "" : fmt::format("doctor: measures {} ({} of {})", probe, done + 1, of));
  };
  const Interrupts::Scope scope(interrupts, [&stop] { stop.request_stop(); });
  try {
    return measure(question);
  } catch (const Error&) {
    if (shown) set_status_line("");
    throw;
  }
}

std::string subject_of(const DoctorOptions& options) {
  std::vector<std::string> places;
  for (const std::string& place : options.data) places.push_back(shown_url(place));
  return fmt::format("{}, {}", fmt::join(places, " "), options.recipe);
}

int status_of(const TrainingVerdict& verdict) {
  if (!verdict.runs() || !verdict.measurable()) return kExitNotMeasurable;
  return verdict.fed() ? kExitDone : kExitStarved;
}

void doctor(const DoctorOptions& options, const std::string& typed, Interrupts& interrupts) {
  // What is wrong is to be known before the work.
  if (options.step != kReplayStep) accelerator_step_seconds(options.step, 1);
  Catalogue catalogue = Catalogue::shipped();
  if (!options.catalogue.empty()) catalogue.extend_by_file(options.catalogue);
  DiagnosisQuestion question{.subject = subject_of(options), .what_ifs = options.what_ifs};
  for (const std::string& path : options.measured) question.runs.push_back(read_run(path));
  std::optional<AtomicFile> page;
  if (!options.html.empty()) page.emplace(options.html);

  const Recipe recipe = load_recipe(options.recipe, options.views);
  const LoaderOptions loader = loader_options(options, recipe);
  std::vector<Configuration> changes;
  for (const std::string& text : options.what_ifs) {
    changes.push_back(parse_what_if(text, facts_before(options, recipe, loader), catalogue));
  }
  const std::shared_ptr<const Dataset> dataset = open_views(options.data, options.open, options.views);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    try {
      check_run(*dataset, recipe, loader, changes[i], options.gpus);
    } catch (const Error& error) {
      throw error.with_context(fmt::format("--what-if \"{}\": `stoker run` would refuse that", options.what_ifs[i]));
    }
  }

  const Facts facts = measured_facts(options, dataset, recipe, loader, interrupts);
  question.commands = {typed, trial(options, facts)};
  const Diagnosis diagnosis = diagnose(facts, question, catalogue);
  if (page) {
    page->write(as_bytes(doctor_page_html(diagnosis)));
    page->commit();
  }
  if (options.json) {
    write_json(diagnosis_json(diagnosis));
  } else {
    write_output(doctor_text(diagnosis));
  }
  if (const int status = status_of(diagnosis.verdict); status != kExitDone) throw ExitStatus{status};
}

// 1 says that the GPUs starve: whatever keeps the doctor from saying anything is 2.
void doctor_or_not_measurable(const DoctorOptions& options, const std::string& typed, Interrupts& interrupts) {
  try {
    doctor(options, typed, interrupts);
    return;
  } catch (const OutputClosed&) {
    // The reader of our output closed the pipe: there is nothing to report.
  } catch (const std::bad_alloc&) {
    write_error_line("out of memory");
  } catch (const std::exception& error) {
    if (interrupts.raised()) throw;
    write_error_line(error.what());
  }
  throw ExitStatus{kExitNotMeasurable};
}

}  // namespace

void add_doctor_command(Parser& app, Interrupts& interrupts, const std::string& typed) {
  Command* command =
      app.add_subcommand("doctor", "Find what holds a training back, what would help, and which machine it needs");
  const auto options = std::make_shared<DoctorOptions>();
  add_data_argument(*command, options->data);
  add_recipe_option(*command, options->recipe);
  add_text_option(*command, "--step", options->step,
                  fmt::format("Required; a training step's seconds, a profile such as {}, or replay: as the last real "
                              "training with these data and this recipe had it",
                              accelerator_profiles().back().name))
      ->required()
      ->option_text("SECONDS|PROFILE|replay");
  add_planned_loader_options(*command, options->loader, options->run_words);
  add_data_view_options(*command, options->views);
  options->device = "cpu";
  add_text_option(*command, "--device", options->device, option_help("device"))->option_text("DEVICE");
  add_integer_option(*command, "--gpus", options->gpus, {1, kNodeGpusMost},
                     "GPUs of the node, each with a batch of its own; 1");
  command->add_flag("--quick", options->quick, "Measure for less than a minute instead of several");
  command
      ->add_repeated("--what-if", options->what_ifs,
                     "Predict another machine or another run: \"cores=16 disk=nvme\"; may come several times")
      ->option_text("CHANGES");
  add_text_option(*command, "--catalogue", options->catalogue,
                  "More disks, networks, GPUs and machines, with prices; docs/doctor.md shows the form")
      ->option_text("FILE.toml");
  command
      ->add_repeated("--measured", options->measured,
                     "Compare what is predicted with what `stoker run --json` reported; may come several times")
      ->option_text("FILE");
  add_text_option(*command, "--html", options->html, "Draw the result as a page")->option_text("FILE.html");
  command->record_words(&options->run_words);
  add_open_options(*command, options->open);
  command->record_words(nullptr);
  add_json_flag(*command, options->json);
  set_example(*command, "stoker doctor imagenet/train --recipe imagenet-train --step mlperf:resnet50/h100 --batch 400");
  command->callback([options, typed, &interrupts] { doctor_or_not_measurable(*options, typed, interrupts); });
}

}  // namespace stoker
