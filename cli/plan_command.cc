// `stoker plan`: shows a recipe's stages and their costs on this data and machine, without a run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/bad_samples.h"
#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/json_output.h"
#include "cli/loader_options.h"
#include "cli/progress.h"
#include "cli/store_plan.h"
#include "cli/text_table.h"
#include "stoker/base/units.h"
#include "stoker/ops/operator_table.h"
#include "stoker/plan/device_batch.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/probe/core_probe.h"
#include "stoker/runtime/probe/crossing_probe.h"
#include "stoker/runtime/probe/store_advice.h"
#include "stoker/runtime/samples/sample_reader.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kSamplesCrossing = 64;

struct PlanOptions {
  std::vector<std::string> data;
  std::string recipe;
  OpenOptions open;
  LoaderOptions loader;
  bool json = false;
};

// The facts about a plan to report.
struct PlanReport {
  const Plan& plan;
  std::vector<OutputSpec> outputs;
  CoreCosts core;
  std::vector<CrossingCost> crossings;  // by transfer index, if there is a device
  std::optional<StoreAdvice> store;     // unless the data are local
  const LoaderOptions& loader;
  std::uint64_t memory_bytes_min, device_memory_bytes_min;
};

// "3 x 224 x 224"
std::string shape_text(const Shape& shape) {
  return shape.rank() == 0 ? "scalar" : fmt::format("{}", fmt::join(shape.extents(), " x "));
}

// A device's cost of a stage is the decrease of its cost when the host runs the stage.
std::optional<double> device_us(const PlanReport& report, std::size_t stage) {
  const auto& crossings = report.crossings;
  if (report.plan.stages().size() != kTransferIndexMax || crossings.empty()) return std::nullopt;  // several views
  if (!crossings[stage].device_us || !crossings[stage + 1].device_us) return std::nullopt;
  return std::max(0.0, *crossings[stage].device_us - *crossings[stage + 1].device_us);
}

std::vector<std::string> batch_operators(const PlanReport& report) {
  std::vector<std::string> operators;
  for (const OperatorCall& call : report.plan.recipe().batch()) operators.push_back(brief(call));
  return operators;
}

// Whether the output's shape differs from batch to batch.
bool varies(const Plan& plan, const OutputSpec& output) {
  const auto& views = plan.views();
  return std::any_of(views.begin(), views.end(), [&](const ViewPlan& view) {
    return view.name == output.name && view.kind == ViewKind::kImage && view.image.geometry.size_varies();
  });
}

std::string us_text(std::optional<double> us) { return us ? fmt::format("{:.3g}", *us) : "-"; }

std::string crossings_text(const PlanReport& report) {
  if (report.crossings.empty()) return {};
  TextTable table({{"transfer index", Align::kRight},
                   {"CPU us", Align::kRight},
                   {"device us", Align::kRight},
                   {"bytes to the device", Align::kRight}});
  for (std::size_t i = 0; i < report.crossings.size(); ++i) {
    const CrossingCost& cost = report.crossings[i];
    table.add_row(
        {fmt::format("{}", i), us_text(cost.cpu_us), us_text(cost.device_us), format_size(cost.bytes_to_device)});
  }
  const Device& device = *report.loader.device;
  const std::string caveat = device.caveat();
  return fmt::format("{}Means per sample, split between a core and {}.{}{}\n\n", table.text(), device.name(),
                     caveat.empty() ? "" : " ", caveat);
}

// The rate, and whether an index was used, so that indexed data are not compared with plain files by mistake.
std::string core_rate_text(const CoreCosts& core) {
  const std::string index =
      core.indexed > 0
          ? fmt::format("{:.0f}% of the images are decoded with an index's entry points; plain files have none.",
                        100 * core.indexed)
          : std::string("No image is decoded with an index's entry points.");
  return fmt::format("`run` will make about {:.0f} samples/s on one core. {}\nMeasured on {}.\n", core.samples_per_s,
                     index, counted(core.samples.good.size(), "sample"));
}

std::string text_of(const PlanReport& report) {
  TextTable stages({{"stage"},
                    {"CPU us", Align::kRight},
                    {"device us", Align::kRight},
                    {"bytes out", Align::kRight},
                    {"operators"}});
  double rest_us = report.core.cpu_us;
  for (std::size_t i = 0; i < report.core.stages.size(); ++i) {
    const StageSpec& stage = report.plan.stages()[i];
    const StageCost& cost = report.core.stages[i];
    rest_us -= cost.cpu_us;
    stages.add_row({stage.name, fmt::format("{:.0f}", cost.cpu_us), us_text(device_us(report, i)),
                    format_size(cost.bytes_out), fmt::format("{}", fmt::join(stage.operators, ", "))});
  }
  if (const std::vector<std::string> operators = batch_operators(report); !operators.empty()) {
    stages.add_row({"across the batch", "-", "-", "-", fmt::format("{}", fmt::join(operators, ", "))});
  }
  stages.add_row({"the rest", fmt::format("{:.0f}", std::max(rest_us, 0.0)), "-", "-", "reading, checking, batches"});
  TextTable outputs({{"output"}, {"dtype"}, {"shape of one sample"}});
  for (const OutputSpec& output : report.outputs) {
    const std::string up_to = varies(report.plan, output) ? "up to " : "";
    outputs.add_row({output.name, std::string(to_string(output.dtype)), up_to + shape_text(output.shape)});
  }
  return fmt::format("{}\n{}\n", stages.text(), outputs.text()) + crossings_text(report) + core_rate_text(report.core) +
         (report.store ? store_plan_text(*report.store) : std::string()) +
         fmt::format("A run with batches of {}, and {} of them made ahead, needs at least {} of memory{}.\n",
                     report.loader.batch, report.loader.prefetch.value_or(kPrefetchDefault),
                     format_size(static_cast<double>(report.memory_bytes_min)),
                     report.loader.device
                         ? fmt::format(", and {} of device memory",
                                       format_size(static_cast<double>(report.device_memory_bytes_min)))
                         : std::string()) +
         bad_samples_text("Bad samples, skipped", report.core.samples.bad);
}

nlohmann::ordered_json optional_json(std::optional<double> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json json_of(const PlanReport& report) {
  Json json;
  json["stages"] = Json::array();
  for (std::size_t i = 0; i < report.core.stages.size(); ++i) {
    const StageSpec& stage = report.plan.stages()[i];
    const StageCost& cost = report.core.stages[i];
    json["stages"].push_back({{"name", stage.name},
                              {"operators", stage.operators},
                              {"cpu_us", cost.cpu_us},
                              {"device_us", optional_json(device_us(report, i))},
                              {"bytes_out", std::llround(cost.bytes_out)}});
  }
  json["batch"] = batch_operators(report);
  json["cpu_us"] = report.core.cpu_us;
  json["samples_per_s"] = report.core.samples_per_s;
  json["indexed_share"] = report.core.indexed;
  json["outputs"] = Json::array();
  for (const OutputSpec& output : report.outputs) {
    const std::span<const std::int64_t> shape = output.shape.extents();
    json["outputs"].push_back({{"name", output.name},
                               {"dtype", to_string(output.dtype)},
                               {"shape", std::vector<std::int64_t>(shape.begin(), shape.end())},
                               {"shape_varies", varies(report.plan, output)}});
  }
  if (report.loader.device) {
    json["device"] = report.loader.device->name();
    json["device_memory_bytes_min"] = report.device_memory_bytes_min;
    json["crossings"] = Json::array();
    for (std::size_t i = 0; i < report.crossings.size(); ++i) {
      const CrossingCost& cost = report.crossings[i];
      json["crossings"].push_back({{"transfer_index", i},
                                   {"cpu_us", cost.cpu_us},
                                   {"device_us", optional_json(cost.device_us)},
                                   {"bytes_to_device", cost.bytes_to_device}});
    }
  }
  json["store"] = report.store ? store_plan_json(*report.store) : Json(nullptr);
  json["memory_bytes_min"] = report.memory_bytes_min;
  json["samples_measured"] = report.core.samples.good.size();
  json["bad_samples"] = report.core.samples.bad.size();
  json["bad"] = bad_samples_json(report.core.samples.bad);
  return json;
}

void plan(const PlanOptions& options) {
  const Recipe recipe = Recipe::load(options.recipe);
  LoaderOptions loader = options.loader;
  set_default_batch(loader, recipe);
  const Plan plan(recipe);
  std::vector<OutputSpec> outputs = plan.outputs();
  const std::shared_ptr<const Dataset> dataset = open_samples(options.data, options.open);
  CoreCosts core;
  {
    Progress progress("plan", "samples", 0);
    core = measure_core(dataset, plan,
                        {.seed = loader.seed,
                         .batch = loader.batch,
                         .prefetch = loader.prefetch,
                         .bad_sample = loader.bad_sample,
                         .limits = loader.limits,
                         .progress = [&](std::int64_t done, std::int64_t total) { progress.update(done, total); }});
  }
  std::optional<StoreAdvice> store = advise_store(*dataset, recipe, loader, core.samples_per_s);
  std::vector<CrossingCost> crossings;
  if (loader.device) {
    std::vector<std::int64_t> samples = core.samples.good;
    samples.resize(std::min(samples.size(), kSamplesCrossing));
    const DeviceSide side = {.device = loader.device.get(), .plan = &plan, .image_bytes = mean_sample_bytes(*dataset)};
    CrossingProbe probe(*dataset, plan, side, static_cast<int>(samples.size()), nullptr, loader.limits);
    for (int index = 0; index <= kTransferIndexMax; ++index) {
      crossings.push_back(probe.measure(index, samples, loader.seed));
    }
  }
  const PlanReport report{.plan = plan,
                          .outputs = std::move(outputs),
                          .core = std::move(core),
                          .crossings = std::move(crossings),
                          .store = std::move(store),
                          .loader = loader,
                          .memory_bytes_min = memory_bytes_enough(*dataset, recipe, loader),
                          .device_memory_bytes_min = device_memory_bytes_min(*dataset, recipe, loader)};
  if (options.json) {
    write_json(json_of(report));
  } else {
    write_output(text_of(report));
  }
}

}  // namespace

void add_plan_command(Parser& app) {
  Command* command = app.add_subcommand("plan", "Show a recipe's stages, their cost on this machine, and the outputs");
  const auto options = std::make_shared<PlanOptions>();
  add_data_argument(*command, options->data);
  add_recipe_option(*command, options->recipe);
  LoaderOptions& loader = options->loader;
  add_batch_option(*command, loader);
  for (const char* const name : {"prefetch", "threads", "pixels_max", "bad_sample"}) {
    add_loader_option(*command, loader, name);
  }
  add_loader_option(*command, loader, "device",
                    "Show the cost of each transfer index with this device; by default cpu");
  add_open_options(*command, options->open);
  add_json_flag(*command, options->json);
  set_example(*command, "stoker plan imagenet/train --recipe imagenet-train");
  command->callback([options] { plan(*options); });
}

}  // namespace stoker
