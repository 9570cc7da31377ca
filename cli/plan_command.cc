// `stoker plan`: what a recipe comes to on this data and this machine, without running it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/json_output.h"
#include "cli/progress.h"
#include "cli/sample_reader.h"
#include "cli/stage_probe.h"
#include "cli/text_table.h"
#include "stoker/base/units.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/loader.h"

namespace stoker {
namespace {

constexpr std::int64_t kSamplesMeasured = 64;

struct PlanOptions {
  std::vector<std::string> data;
  std::string recipe;
  LoaderOptions loader;
  bool json = false;

  PlanOptions() { loader.batch = 256; }
};

// What there is to say about a plan.
struct PlanReport {
  const Plan& plan;
  std::vector<OutputSpec> outputs;
  std::vector<StageCost> costs;
  std::size_t samples_measured;
  const LoaderOptions& loader;
  std::uint64_t memory_bytes_min;
};

// "3 x 224 x 224"
std::string shape_text(const Shape& shape) {
  return shape.rank() == 0 ? "scalar" : fmt::format("{}", fmt::join(shape.extents(), " x "));
}

std::string text_of(const PlanReport& report) {
  TextTable stages({{"stage"}, {"CPU us", Align::kRight}, {"bytes out", Align::kRight}, {"operators"}});
  double total_us = 0;
  for (std::size_t i = 0; i < report.costs.size(); ++i) {
    const StageSpec& stage = report.plan.stages()[i];
    const StageCost& cost = report.costs[i];
    total_us += cost.cpu_us;
    stages.add_row({stage.name, fmt::format("{:.0f}", cost.cpu_us), format_size(cost.bytes_out),
                    fmt::format("{}", fmt::join(stage.operators, ", "))});
  }
  TextTable outputs({{"output"}, {"dtype"}, {"shape of one sample"}});
  for (const OutputSpec& output : report.outputs) {
    outputs.add_row({output.name, std::string(to_string(output.dtype)), shape_text(output.shape)});
  }
  return fmt::format("{}\n{}\n", stages.text(), outputs.text()) +
         fmt::format(
             "A core makes about {:.0f} samples/s: medians over {} samples, each stage apart; a run fuses geometry and "
             "color.\n",
             total_us > 0 ? 1e6 / total_us : 0.0, report.samples_measured) +
         fmt::format("Batches of {} with {} made ahead take at least {} of memory.\n", report.loader.batch,
                     report.loader.prefetch, format_size(static_cast<double>(report.memory_bytes_min)));
}

nlohmann::ordered_json json_of(const PlanReport& report) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["stages"] = Json::array();
  for (std::size_t i = 0; i < report.costs.size(); ++i) {
    const StageSpec& stage = report.plan.stages()[i];
    json["stages"].push_back({{"name", stage.name},
                              {"operators", stage.operators},
                              {"cpu_us", report.costs[i].cpu_us},
                              {"device_us", nullptr},
                              {"bytes_out", std::llround(report.costs[i].bytes_out)}});
  }
  json["outputs"] = Json::array();
  for (const OutputSpec& output : report.outputs) {
    const std::span<const std::int64_t> shape = output.shape.extents();
    json["outputs"].push_back({{"name", output.name},
                               {"dtype", to_string(output.dtype)},
                               {"shape", std::vector<std::int64_t>(shape.begin(), shape.end())}});
  }
  json["memory_bytes_min"] = report.memory_bytes_min;
  json["samples_measured"] = report.samples_measured;
  return json;
}

void plan(const PlanOptions& options) {
  const Recipe recipe = Recipe::load(options.recipe);
  const Plan plan(recipe);
  std::vector<OutputSpec> outputs = plan.outputs();
  const std::shared_ptr<const Dataset> dataset = open_samples(options.data);
  const std::vector<std::int64_t> samples = first_samples(*dataset, options.loader.seed, kSamplesMeasured);
  std::vector<StageCost> costs;
  {
    Progress progress("plan", "samples", static_cast<std::int64_t>(samples.size()));
    costs = measure_stages(*dataset, plan, samples, options.loader.seed,
                           [&progress](std::int64_t measured) { progress.update(measured); });
  }
  const PlanReport report{plan,           std::move(outputs), std::move(costs),
                          samples.size(), options.loader,     memory_bytes_min(*dataset, recipe, options.loader)};
  if (options.json) {
    write_json(json_of(report));
  } else {
    write_output(text_of(report));
  }
}

}  // namespace

void add_plan_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("plan", "Show a recipe's stages, what they cost here, and its outputs");
  const auto options = std::make_shared<PlanOptions>();
  add_data_argument(*command, options->data);
  add_recipe_option(*command, options->recipe);
  add_integer_option(*command, "--batch", options->loader.batch, {1},
                     "Samples per batch, for the memory it takes; 256");
  add_integer_option(*command, "--prefetch", options->loader.prefetch, {1},
                     "Batches made ahead, for the memory they take; 2");
  add_threads_option(*command, options->loader.threads);
  add_json_flag(*command, options->json);
  set_example(*command, "stoker plan imagenet/train --recipe imagenet-train");
  command->callback([options] { plan(*options); });
}

}  // namespace stoker
