// What a loader works with: the user's options, checked, with every default filled in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "stoker/base/topology.h"
#include "stoker/format/dataset.h"
#include "stoker/order/order_options.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader_options.h"
#include "stoker/tuner/knob_setting.h"

namespace stoker {

struct ResolvedOptions {
  int rank = 0, world = 1;
  int batch = 0;         // slots per rank
  OrderOptions order{};  // without the sizes of the shards, which take a look at every sample
  NearCores cores{};     // that our threads keep to; none: they run anywhere
  int core_count = 1;    // that they may use
  KnobSetting knobs{};   // to begin with
  Knobs fixed{};         // those that the user gave, which are not tuned
  TuneMode tune = TuneMode::kOn;
  std::uint64_t memory = 0, device_memory = 0;
  CacheKind cache = CacheKind::kNone;
  static constexpr std::uint64_t kAllSamples = UINT64_MAX;  // as far as half of the budget goes
  std::uint64_t cache_memory = kAllSamples;
  BadSlotPolicy bad_sample = BadSlotPolicy::kSubstitute;
  std::int64_t epochs_end = INT64_MAX;
  DecodeLimits limits{};
  std::string quarantine{}, audit{}, metrics_address{}, name{};
  Allocator* allocator = nullptr;
  std::shared_ptr<Device> device{};
  bool nvjpeg = false, pin_memory = false;
  std::function<void(const TuningMove&)> tuned{};
  std::function<void(const LoaderProgress&)> progress{};
};

/// Throws kUsage or kData with the reason why a loader cannot have these options.
ResolvedOptions resolve_options(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);

/// As far as memory depends on them; it checks no more than that takes.
ResolvedOptions resolve_sizes(const Dataset& dataset, const LoaderOptions& options);

/// Throws kUsage for one that is not from 0 to the last, or that leaves work to a device that there is not.
void check_transfer_index(int index, const Device* device);

/// Throws kUsage for one that is out of range.
void check_io_depth(int depth);

}  // namespace stoker
