// What a loader can expect of a store over a network in each order, and which order, window, lanes and shard size to
// choose. It only recommends: a loader's order is its user's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader_options.h"
#include "stoker/runtime/probe/read_forecast.h"
#include "stoker/runtime/probe/store_probe.h"
#include "stoker/tuner/pipeline_model.h"

namespace stoker {

struct OrderExpectation {
  OrderKind order = OrderKind::kGlobal;
  std::int64_t window = 0;  // of the windowed order
  int lanes = 0;            // the same
  ReadForecast reads{};
  PipelineCapacity capacity{};  // the store's and the threads'

  double store_samples_per_s() const { return capacity[Resource::kStore]; }
  double samples_per_s() const { return capacity.throughput(); }
  bool store_limits() const { return capacity.limit() == Resource::kStore; }
};

struct StoreAdvice {
  StoreRates rates;
  int threads = 1;  // that a loader would have
  double cpu_samples_per_s = 0;
  bool loose = false;                    // each sample is an object of its own
  std::vector<OrderExpectation> orders;  // global, and the best windowed one unless samples are loose
  std::size_t recommended = 0;           // of them
  std::uint64_t shard_bytes = 0;         // recommended; how large shards are now:
  std::uint64_t shard_bytes_now = 0;
};

/// Samples a second that a store with these rates gives a loader that makes so many requests: as many as it answers, as
/// the link carries, and as come while each takes its time.
double store_samples_per_s(const StoreRates& rates, const ReadForecast& reads);

/// Samples a second that threads process on so many cores, usable_core_time(), of which each carries one of them.
double threads_samples_per_s(double core_samples_per_s, int threads, double cores);

/// The reads that a loader of data in a store far away has under way, at most. Where the rate is even, tuning finds the
/// I/O depth that it takes. Windows come in bursts, and at an epoch's beginning sample by sample: there it seldom
/// leaves the depth that it begins with.
int reads_at_once(OrderKind order, const LoaderOptions& options);

/// The least size of shards at which opening them costs little, and which hold a window each.
std::uint64_t shard_bytes_enough(const StoreRates& rates, const OrderExpectation& order, std::uint64_t sample_bytes);

/// Measures the store, for a loader with these options whose threads process `core_samples_per_s` each. Nothing if the
/// data do not come from a store over a network. Throws as measure_store() and lay_out() do.
std::optional<StoreAdvice> advise_store(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options,
                                        double core_samples_per_s);

}  // namespace stoker
