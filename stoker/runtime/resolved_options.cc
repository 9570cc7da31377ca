#include "stoker/runtime/resolved_options.h"

#include <algorithm>
#include <limits>

#include "stoker/base/error.h"
#include "stoker/base/machine.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"
#include "stoker/base/words.h"
#include "stoker/device/device.h"
#include "stoker/order/launcher.h"
#include "stoker/plan/device_batch.h"
#include "stoker/runtime/report/metrics_server.h"
#include "stoker/runtime/report/output_paths.h"
#include "stoker/runtime/report/outputs_apart.h"
#include "stoker/runtime/share/sample_cache.h"
#include "stoker/tuner/tuned_workload.h"

namespace stoker {
namespace {

int resolve_batch(const LoaderOptions& options, int world) {
  if ((options.batch > 0) == (options.global_batch > 0)) {
    fail(ErrorKind::kUsage, "give either batch (per rank) or global_batch, a positive number");
  }
  if (options.batch > 0) return options.batch;
  if (options.global_batch % world != 0) {
    fail(ErrorKind::kUsage, "a global batch of {} cannot be divided among {}; use a multiple of {}",
         options.global_batch, counted(world, "rank"), world);
  }
  const std::int64_t batch = options.global_batch / world;
  if (batch > std::numeric_limits<int>::max()) {
    fail(ErrorKind::kUsage, "a batch of {} samples per rank is more than the {} possible", batch,
         std::numeric_limits<int>::max());
  }
  return static_cast<int>(batch);
}

OrderOptions order_options(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options,
                           std::int64_t global_batch) {
  OrderOptions order{.samples = dataset.size(),
                     .global_batch = global_batch,
                     .kind = options.order,
                     .tail = options.tail ? *options.tail : parse_tail(recipe.tail()),
                     .seed = options.seed,
                     .repeats = options.repeats,
                     .batch_repeats = options.batch_repeats.value_or(recipe.batch_repeats())};
  for (const MixPart& part : dataset.mixture()) order.mixture.push_back({part.samples, part.weight});
  if (options.window) order.window = *options.window;
  if (options.lanes) order.lanes = *options.lanes;
  return order;
}

Knobs fixed_knobs(const LoaderOptions& options) {
  Knobs fixed{.prefetch = options.prefetch, .transfer_index = options.transfer_index, .io_depth = options.io_depth};
  if (options.threads != 0) fixed.threads = options.threads;
  if (!options.device) fixed.transfer_index = kTransferIndexMax;
  if (options.nvjpeg && !fixed.transfer_index) fixed.transfer_index = 0;  // at others the pixels are not nvJPEG's
  return fixed;
}

void check_cache(const Dataset& dataset, const LoaderOptions& options) {
  if (!options.cache_memory) return;
  if (options.cache != CacheKind::kRam) {
    fail(ErrorKind::kUsage,
         "cache memory is given, but there is no cache in memory; ask for cache ram, or leave it out");
  }
  const auto samples = static_cast<std::uint64_t>(dataset.size());
  const std::uint64_t least = SampleCache::overhead(dataset.size()) + (dataset.bytes() + samples - 1) / samples;
  if (*options.cache_memory >= least) return;
  fail(ErrorKind::kUsage, "cache memory of {} keeps none of the {}; give at least {}",
       format_size(static_cast<double>(*options.cache_memory)), counted(samples, "sample"), whole_megabytes(least));
}

void check_device(const LoaderOptions& options) {
  if (options.device_memory && !options.device) {
    fail(ErrorKind::kUsage, "device memory is given, but there is no device; name one, or leave it out");
  }
  if (options.device && options.pin_memory) {
    fail(ErrorKind::kUsage,
         "pin_memory is for batches that the program itself copies to a device; with {} they are there already, so "
         "leave it out",
         options.device->name());
  }
  if (!options.nvjpeg) return;
  if (!options.device) {
    fail(ErrorKind::kUsage,
         "nvjpeg is asked for, but there is no device that it decodes on; name one, or leave it out");
  }
  options.device->open_nvjpeg();
}

/// Slot s of a batch continues where slot s of the one before ended, if a batch has each stream once.
void check_streams(const Dataset& dataset, const ResolvedOptions& resolved) {
  const std::int64_t streams = dataset.streams();
  const OrderOptions& order = resolved.order;
  if (streams == 0) return;
  if (streams % resolved.world != 0) {
    fail(ErrorKind::kUsage, "{} cannot be divided among {}; open the data with a multiple of them as streams",
         counted(streams, "stream"), counted(resolved.world, "rank"));
  }
  if (order.kind != OrderKind::kNone || order.global_batch != streams) {
    fail(ErrorKind::kUsage,
         "{} need the order none and a global batch of {}, not the order {} and a global batch of {}; give order none "
         "and a batch of {}{}",
         counted(streams, "stream"), streams, to_string(order.kind), order.global_batch, streams / resolved.world,
         resolved.world == 1 ? "" : " per rank");
  }
  if (order.repeats == 1 && order.batch_repeats == 1) return;
  fail(ErrorKind::kUsage, "{} continue from batch to batch only where each sample comes once; leave the repeats out",
       counted(streams, "stream"));
}

void check_order(const LoaderOptions& options, const ResolvedOptions& resolved) {
  if (options.order != OrderKind::kWindowed && (options.window || options.lanes)) {
    fail(ErrorKind::kUsage, "the order {} has no {}; leave it out, or use order windowed", to_string(options.order),
         options.window ? "window" : "lanes");
  }
  check_order(resolved.order, resolved.world);
}

}  // namespace

ResolvedOptions resolve_sizes(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options) {
  if (options.threads != 0) check_threads(options.threads);
  const Environment none = [](std::string_view) { return std::nullopt; };
  const RankOfWorld place = find_rank(options.rank, options.world, options.launched ? process_environment() : none);
  const std::string bus_id = options.device && options.pin_threads ? options.device->bus_id() : std::string();
  ResolvedOptions resolved;
  resolved.given = options;
  resolved.rank = place.rank;
  resolved.world = place.world;
  resolved.batch = resolve_batch(options, place.world);
  resolved.order = order_options(dataset, recipe, options, std::int64_t{resolved.batch} * place.world);
  if (!bus_id.empty()) resolved.cores = cores_near(bus_id);
  const auto near = static_cast<int>(resolved.cores.cores.size());
  resolved.core_count = near > 0 ? std::min(near, usable_cores()) : usable_cores();
  resolved.fixed = fixed_knobs(options);
  const int all_threads = options.tune == TuneMode::kOff ? resolved.core_count : threads_max(resolved.core_count);
  resolved.knobs = {.threads = options.threads == 0 ? all_threads : options.threads,
                    .transfer_index = options.transfer_index.value_or(options.device ? 0 : kTransferIndexMax),
                    .prefetch = options.prefetch.value_or(kPrefetchDefault),
                    .io_depth = options.io_depth.value_or(kIoDepthMax)};
  resolved.memory = options.memory ? *options.memory : usable_memory() / 4;
  const std::uint64_t of_device = options.device ? options.device->memory_bytes() / 4 : 0;
  resolved.device_memory = options.device_memory.value_or(of_device > 0 ? of_device : UINT64_MAX);
  resolved.cache_memory = options.cache_memory.value_or(ResolvedOptions::kAllSamples);
  return resolved;
}

ResolvedOptions resolve_options(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options) {
  if (dataset.size() == 0) fail(ErrorKind::kData, "the data set is empty: there is nothing to train on");
  const auto outputs = {OutputPath{"audit", options.audit}, OutputPath{"trace", options.trace},
                        OutputPath{"quarantine", options.quarantine}};
  check_outputs_differ(outputs);
  check_outputs_apart(outputs, {}, dataset);
  ResolvedOptions resolved = resolve_sizes(dataset, recipe, options);
  check_cache(dataset, options);
  check_device(options);
  check_transfer_index(resolved.knobs.transfer_index, options.device.get());
  if (options.device && !options.device->computes() && !options.audit.empty()) {
    fail(ErrorKind::kUsage,
         "{} computes nothing, so that there is nothing to audit; use emulated:execute, or no device",
         options.device->name());
  }
  check_io_depth(resolved.knobs.io_depth);
  if (!options.metrics_address.empty()) {
    resolved.metrics_address = parse_metrics_address(options.metrics_address).text();
  }
  if (!options.dashboard_address.empty()) {
    resolved.dashboard_address = parse_metrics_address(options.dashboard_address).text();
  }
  if (!options.name.empty() && options.metrics_address.empty() && options.dashboard_address.empty() &&
      options.trace.empty()) {
    fail(ErrorKind::kUsage,
         "a name has an effect only with metrics, a dashboard or a trace; give one of these, too, or leave the name "
         "out");
  }
  check_order(options, resolved);
  check_streams(dataset, resolved);
  const OrderOptions& order = resolved.order;
  if (order.tail == Tail::kDrop && order.samples * order.repeats < order.global_batch) {
    fail(ErrorKind::kUsage, "an epoch has {}, fewer than one global batch of {}; use a smaller batch, or tail wrap{}",
         counted(order.samples * order.repeats, "sample"), order.global_batch,
         order.batch_repeats == 1 ? ", pad or keep" : "");
  }
  return resolved;
}

void check_transfer_index(int index, const Device* device) {
  if (index < 0 || index > kTransferIndexMax) {
    fail(ErrorKind::kUsage, "the transfer index cannot be {}; it goes from 0 to {}", index, kTransferIndexMax);
  }
  if (!device && index < kTransferIndexMax) {
    fail(ErrorKind::kUsage,
         "a transfer index of {} leaves work to a device, but there is none; name one, or leave the "
         "index out",
         index);
  }
}

void check_io_depth(int depth) {
  if (depth >= 1 && depth <= kIoDepthMax) return;
  fail(ErrorKind::kUsage, "the I/O depth cannot be {}; it goes from 1 to {}", depth, kIoDepthMax);
}

}  // namespace stoker
