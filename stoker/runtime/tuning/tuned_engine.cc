#include "stoker/runtime/tuning/tuned_engine.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/machine.h"
#include "stoker/base/units.h"
#include "stoker/base/user_cache.h"
#include "stoker/runtime/probe/calibration.h"
#include "stoker/storage/source.h"
#include "stoker/tuner/tuned_workload.h"

namespace stoker {
namespace {

// At most.
constexpr int kIoDepthTuned = 256, kIoDepthFarTuned = 1024;

// The title of a tuning report: program, data, recipe, machine and time.
std::string tuning_title(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options,
                         std::string_view device) {
  std::vector<std::string> operators;
  for (const StageSpec& stage : plan.stages()) {
    operators.insert(operators.end(), stage.operators.begin(), stage.operators.end());
  }
  const std::size_t shards = dataset.shard_samples().size();
  const std::string more = shards > 1 ? fmt::format(" and {}", counted(shards - 1, "other shard")) : "";
  return fmt::format("{}{} of {}{}; {}; batches of {}, device {}, on {}; begun {:%Y-%m-%d %H:%M} UTC",
                     options.given.name.empty() ? "" : options.given.name + ": ", counted(dataset.size(), "sample"),
                     dataset.row(0).source->name(), more, fmt::join(operators, ", "), options.batch, device,
                     machine_name(), fmt::gmtime(std::time(nullptr)));
}

// The knobs to tune, and their limits; nullopt if there are none.
std::optional<SelfTuningOptions> tuning_options(const Dataset& dataset, const Plan& plan,
                                                const ResolvedOptions& options, const MemoryPlan& memory) {
  if (options.given.tune == TuneMode::kOff || options.fixed.all()) return std::nullopt;
  const int prefetch_max =
      most_prefetch(options.fixed.prefetch.value_or(kPrefetchTuned), dataset, plan, options, memory);
  const std::string device = options.given.device ? options.given.device->name() : "cpu";
  SelfTuningOptions tuning;
  tuning.once = options.given.tune == TuneMode::kOnce;
  tuning.title = tuning_title(dataset, plan, options, device);
  tuning.workload.cores = options.core_count;
  tuning.workload.batch = options.batch;
  tuning.workload.prefetch_max = prefetch_max;
  tuning.workload.io_depth_max = kIoDepthTuned;
  if (!dataset.meters().empty()) {
    tuning.workload.io_depth_max = kIoDepthFarTuned;
    tuning.workload.io_depth_first = kIoDepthFarFirst;
  }
  tuning.limits.fixed = options.fixed;
  tuning.limits.fits = [prefetch_max](int /*transfer_index*/, int prefetch) { return prefetch <= prefetch_max; };
  tuning.cores = options.cores.cores;
  tuning.share.threads_max = threads_max(tuning.workload.cores);
  tuning.cache_folder = user_cache_folder();
  tuning.key = {.machine = machine_name(),
                .device = device,
                .data = dataset.fingerprint(),
                .recipe = plan.recipe().hash(),
                .batch = options.batch,
                .world = options.world};
  tuning.moved = options.given.tuned;
  return tuning;
}

}  // namespace

std::unique_ptr<TunedEngine> tune(Engine& engine, const ResolvedOptions& options) {
  auto tuning = tuning_options(engine.dataset(), engine.plan(), options, engine.memory());
  return tuning ? std::make_unique<TunedEngine>(engine, options, *std::move(tuning)) : nullptr;
}

TunedEngine::TunedEngine(Engine& engine, const ResolvedOptions& options, SelfTuningOptions tuning)
    : engine_(engine), seed_(options.order.seed), limits_(options.given.limits), tuning_(*this, std::move(tuning)) {
  engine_.consumer().on_delivered([this](const BatchPeriod& period) { tuning_.delivered(period); });
}

std::optional<std::vector<CrossingCost>> TunedEngine::calibrate(const std::function<bool()>& stop) {
  // Returns the lent memory in every case.
  struct Loan {
    Engine& engine;
    LoaderBatchBytes bytes{};

    ~Loan() { engine.release_lent(bytes); }
  } loan{engine_};
  ScratchGate gate(engine_.scratch(), false);
  const auto lend = [&](const LoaderBatchBytes& bytes) {
    if (!engine_.lend(bytes)) return false;
    loan.bytes = bytes;
    return true;
  };
  return stoker::calibrate(engine_.dataset(), engine_.plan(), engine_.device_side(),
                           {.seed = seed_, .gate = &gate, .limits = limits_, .lend = lend, .stop = stop});
}

}  // namespace stoker
