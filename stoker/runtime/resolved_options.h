// What a loader works with: the user's options, checked, with every default filled in.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/topology.h"
#include "stoker/format/dataset.h"
#include "stoker/order/order_options.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader_options.h"
#include "stoker/tuner/knob_setting.h"

namespace stoker {

struct ResolvedOptions {
  LoaderOptions given{};  // as the user gave them; a member below of the same meaning counts instead

  int rank = 0, world = 1;
  int batch = 0;         // slots per rank
  OrderOptions order{};  // without the sizes of the shards, which take a look at every sample
  NearCores cores{};     // that our threads keep to; none: they run anywhere
  int core_count = 1;    // that they may use
  KnobSetting knobs{};   // to begin with
  Knobs fixed{};         // those that the user gave, which are not tuned
  std::uint64_t memory = 0, device_memory = 0;
  static constexpr std::uint64_t kAllSamples = UINT64_MAX;  // as far as half of the budget goes
  std::uint64_t cache_memory = kAllSamples;
  std::string metrics_address{}, dashboard_address{};  // with the host
};

/// Throws kUsage or kData with the reason why a loader cannot have these options.
ResolvedOptions resolve_options(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);

/// As far as memory depends on them; it checks no more than that takes.
ResolvedOptions resolve_sizes(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);

/// Throws kUsage for one that is not from 0 to the last, or that leaves work to a device that there is not.
void check_transfer_index(int index, const Device* device);

/// Throws kUsage for one that is out of range.
void check_io_depth(int depth);

}  // namespace stoker
