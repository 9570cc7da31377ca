#include "stoker/runtime/tuning/tuned_engine.h"

#include <utility>

#include "stoker/runtime/probe/calibration.h"

namespace stoker {

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
