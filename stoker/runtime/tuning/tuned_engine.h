// SelfTuning's interface to the engine.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/runtime/engine/engine.h"
#include "stoker/runtime/tuning/self_tuning.h"

namespace stoker {

class TunedEngine final : public TunedLoader {
 public:
  TunedEngine(Engine& engine, const ResolvedOptions& options, SelfTuningOptions tuning);

  SelfTuning& tuning() { return tuning_; }

  Metrics metrics() const override { return engine_.metrics(); }
  KnobSetting knobs() const override { return engine_.knobs(); }
  void turn(const KnobSetting& knobs) override { engine_.turn(knobs); }
  std::optional<std::vector<CrossingCost>> calibrate(const std::function<bool()>& stop) override;

 private:
  Engine& engine_;
  const std::uint64_t seed_;
  const DecodeLimits limits_;
  SelfTuning tuning_;
};

/// Null if the options leave nothing to tune. The engine must outlive it; its threads have not started yet.
std::unique_ptr<TunedEngine> tune(Engine& engine, const ResolvedOptions& options);

}  // namespace stoker
