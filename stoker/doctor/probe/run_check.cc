#include "stoker/doctor/probe/run_check.h"

#include <fmt/format.h>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/engine/memory_plan.h"
#include "stoker/runtime/resolved_options.h"

namespace stoker {
namespace {

// Unless it was given a budget, a loader takes this part of the machine's memory.
constexpr std::uint64_t kMemoryPart = 4;

void change_memory(LoaderOptions& loader, std::uint64_t bytes) {
  if (loader.memory && *loader.memory > bytes) {
    fail(ErrorKind::kUsage, "the loader's memory budget of {} is more than the machine's memory of {}; give it less",
         format_size(static_cast<double>(*loader.memory)), format_size(static_cast<double>(bytes)));
  }
  if (!loader.memory) loader.memory = bytes / kMemoryPart;
}

void change_order(LoaderOptions& loader, const std::string& order) {
  loader.order = parse_order(order);
  if (loader.order == OrderKind::kWindowed) return;
  loader.window.reset();
  loader.lanes.reset();
}

void change_cache(LoaderOptions& loader, const std::string& cache) {
  const bool in_memory = cache == "ram" || cache == "decoded";
  loader.cache = in_memory ? CacheKind::kRam : CacheKind::kNone;  // one on a disk takes little memory
  if (!in_memory) loader.cache_memory.reset();
}

}  // namespace

void check_run(const Dataset& dataset, const Recipe& recipe, LoaderOptions loader, const Configuration& change,
               int gpus) {
  const bool takes_part = !loader.memory;
  if (change.threads) loader.threads = *change.threads;
  if (change.prefetch) loader.prefetch = change.prefetch;
  if (change.io_depth) loader.io_depth = change.io_depth;
  if (change.transfer_index) loader.transfer_index = change.transfer_index;
  if (change.order) change_order(loader, *change.order);
  if (change.cache) change_cache(loader, *change.cache);
  if (change.memory_bytes) change_memory(loader, *change.memory_bytes);
  if (change.batch) {
    loader.batch = *change.batch;
    loader.global_batch = 0;
  }
  if (change.gpus || change.nodes) {  // a process for each
    loader.launched = false;
    loader.rank = 0;
    loader.world = change.gpus.value_or(gpus) * change.nodes.value_or(1);
  }
  const ResolvedOptions resolved = resolve_options(dataset, recipe, loader);
  try {
    plan_memory(dataset, Plan(recipe), resolved);
  } catch (const Error& error) {
    if (!takes_part || error.kind() != ErrorKind::kMemory) throw;
    throw error.with_context("without --memory a loader takes a quarter of the machine's memory");
  }
}

}  // namespace stoker
