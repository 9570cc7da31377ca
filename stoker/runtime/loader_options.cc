#include "stoker/runtime/loader_options.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <memory>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/machine.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"
#include "stoker/base/user_cache.h"
#include "stoker/base/whole_megabytes.h"
#include "stoker/base/words.h"
#include "stoker/order/launcher.h"
#include "stoker/runtime/engine/scratch_budget.h"
#include "stoker/runtime/report/metrics_server.h"
#include "stoker/tuner/tuned_workload.h"

namespace stoker {
namespace {

// Encoded samples that wait for a worker: some hundred photographs. More would not make local storage faster.
constexpr std::size_t kReadAheadMax = std::size_t{64} << 20;
constexpr std::size_t kReserve = std::size_t{256} << 10;  // for samples that stand in for bad ones: it grows if need be
constexpr std::size_t kReadAheadMin = std::size_t{1} << 20;

// What decoding needs at least: enough for a photograph of some four million pixels at a time, and something for each
// worker.
constexpr std::uint64_t kScratchMin = std::uint64_t{16} << 20, kScratchEach = std::uint64_t{1} << 20;

// A ticket, and what its strings and lists have of the heap.
std::uint64_t ticket_bytes(std::int64_t tickets) {
  constexpr std::uint64_t kHeap = 256;
  return static_cast<std::uint64_t>(tickets) * (sizeof(Ticket) + kHeap);
}

constexpr int kPrefetchTuned = 16;  // at most: what comes less regularly than that is not to be evened out
constexpr int kIoDepthTuned = 256;

constexpr Word<TuneMode> kTuneModeWords[] = {{TuneMode::kOn, "on"}, {TuneMode::kOnce, "once"}, {TuneMode::kOff, "off"}};

// The windowed order is read window by window if a window's samples are all drawn before the first of them is wanted:
// all windows in use, and this part of them more, which is the time to read in.
constexpr double kWindowSlack = 0.25;

/// How many samples of this rank the windowed order has drawn by then; 0 for other orders.
std::int64_t tickets_ahead(const OrderOptions& order, int world) {
  if (order.kind != OrderKind::kWindowed) return 0;
  const double lanes = static_cast<double>(order.lanes) / world;
  const double samples = std::min(lanes * static_cast<double>(order.window), static_cast<double>(order.samples));
  return static_cast<std::int64_t>((1 + kWindowSlack) * samples * static_cast<double>(order.repeats)) + 1;
}

/// What so many samples take in the arena, where each is padded: by half a unit on average.
std::size_t bytes_of(const Dataset& dataset, std::int64_t tickets) {
  const double mean = static_cast<double>(dataset.bytes()) / static_cast<double>(dataset.size()) +
                      static_cast<double>(EncodedArena::kUnit) / 2;
  return static_cast<std::size_t>(std::min(mean * static_cast<double>(tickets), 1e15));
}

/// How much of the read-ahead is read without waiting for neighbours: of the windowed order, what its slack is. Of
/// others half, so that the reads of storage that is slow do not shrink to what workers give back at a time.
std::size_t near_bytes(const Dataset& dataset, const BoardOptions& board) {
  if (board.tickets_ahead == 0) return board.read_ahead_bytes / 2;
  const std::size_t windows = std::min(bytes_of(dataset, board.tickets_ahead), board.read_ahead_bytes);
  return static_cast<std::size_t>(kWindowSlack / (1 + kWindowSlack) * static_cast<double>(windows));
}

std::string human(std::size_t bytes) { return format_size(static_cast<double>(bytes)); }

// The batches made ahead, and the one that the consumer holds; more than any machine has where the product overflows.
std::size_t least_batch_memory(int prefetch, std::size_t batch_bytes) {
  std::size_t bytes;
  const bool overflows = __builtin_mul_overflow(static_cast<std::size_t>(prefetch) + 1, batch_bytes, &bytes);
  return overflows ? SIZE_MAX / 2 : bytes;
}

/// With rank and world.
LoaderOptions placed(LoaderOptions options) {
  const RankOfWorld place = find_rank(options.rank, options.world, process_environment());
  options.rank = place.rank;
  options.world = place.world;
  return options;
}

int resolve_batch(const LoaderOptions& options) {
  if ((options.batch > 0) == (options.global_batch > 0)) {
    fail(ErrorKind::kUsage, "give either batch (per rank) or global_batch, a positive number");
  }
  if (options.batch > 0) return options.batch;
  if (options.global_batch % *options.world != 0) {
    fail(ErrorKind::kUsage, "a global batch of {} cannot be divided among {}", options.global_batch,
         counted(*options.world, "rank"));
  }
  const std::int64_t batch = options.global_batch / *options.world;
  if (batch > std::numeric_limits<int>::max()) {
    fail(ErrorKind::kUsage, "a batch of {} samples per rank is more than the {} possible", batch,
         std::numeric_limits<int>::max());
  }
  return static_cast<int>(batch);
}

int cores_of(const LoaderOptions& options) {
  const auto near = static_cast<int>(loader_cores(options).cores.size());
  return near > 0 ? std::min(near, usable_cores()) : usable_cores();
}

int first_prefetch(const LoaderOptions& options) { return options.prefetch.value_or(kPrefetchDefault); }

/// With rank and world, both batches, and threads.
LoaderOptions resolved(LoaderOptions options) {
  if (options.threads != 0) check_threads(options.threads);
  options = placed(std::move(options));
  options.batch = resolve_batch(options);
  options.global_batch = std::int64_t{options.batch} * *options.world;
  if (options.threads == 0) {
    options.threads = options.tune == TuneMode::kOff ? cores_of(options) : threads_max(cores_of(options));
  }
  return options;
}

/// For complete options, but for the tail. The sizes of the shards are left out: they take a look at every sample.
OrderOptions order_options(const Dataset& dataset, const LoaderOptions& options) {
  OrderOptions order{.samples = dataset.size(),
                     .global_batch = options.global_batch,
                     .kind = options.order,
                     .tail = options.tail.value_or(Tail::kDrop),
                     .seed = options.seed,
                     .repeats = options.repeats};
  for (const MixPart& part : dataset.mixture()) order.mixture.push_back({part.samples, part.weight});
  if (options.window) order.window = *options.window;
  if (options.lanes) order.lanes = *options.lanes;
  return order;
}

void check_order(const Dataset& dataset, const LoaderOptions& options) {
  if (options.order != OrderKind::kWindowed && (options.window || options.lanes)) {
    fail(ErrorKind::kUsage, "the order {} has no {}; leave it out, or use order windowed", to_string(options.order),
         options.window ? "window" : "lanes");
  }
  check_order(order_options(dataset, options), *options.world);
}

/// What a cache of all samples takes.
std::uint64_t whole_cache_bytes(const Dataset& dataset) {
  return SampleCache::overhead(dataset.size()) + dataset.bytes() +
         static_cast<std::uint64_t>(dataset.size()) * SampleCache::kUnit;
}

DeviceSide device_side(const Dataset& dataset, const Plan& plan, const LoaderOptions& options) {
  return {.device = options.device.get(),
          .plan = &plan,
          .image_bytes = mean_sample_bytes(dataset),
          .nvjpeg = options.nvjpeg};
}

LoaderBatchBytes bytes_of_batch(const Dataset& dataset, const Plan& plan, const LoaderOptions& options) {
  return loader_batch_bytes(plan.outputs(), options.batch, device_side(dataset, plan, options));
}

std::uint64_t tickets_memory(const LoaderOptions& options, int prefetch, std::int64_t ahead) {
  return kReserve + ticket_bytes(std::max(ahead, (prefetch + std::int64_t{1}) * options.batch));
}

/// The least of everything; of the cache what was asked for by size.
MemoryPlan least_memory(const Dataset& dataset, const Plan& plan, const LoaderOptions& options) {
  const int prefetch = std::max(first_prefetch(options), 1);
  const std::int64_t ahead = tickets_ahead(order_options(dataset, options), *options.world);
  const std::uint64_t table = SampleCache::overhead(dataset.size());
  return {.cache = options.cache == CacheKind::kRam ? std::max(options.cache_memory.value_or(0), table) : 0,
          .tickets = tickets_memory(options, prefetch, ahead),
          .read_ahead = kReadAheadMin,
          .scratch = kScratchMin + static_cast<std::uint64_t>(options.threads) * kScratchEach,
          .batches = least_batch_memory(prefetch, bytes_of_batch(dataset, plan, options).host)};
}

/// The largest sample has the read-ahead to itself, and all that batches do not need.
std::uint64_t sample_bytes_max(const Dataset& dataset, const Plan& plan, const LoaderOptions& options,
                               const MemoryPlan& memory) {
  const std::uint64_t batches =
      least_batch_memory(std::max(first_prefetch(options), 1), bytes_of_batch(dataset, plan, options).host);
  return std::min(BoardOptions().sample_bytes_max, memory.read_ahead + memory.batches - batches);
}

/// Where the samples lie, some of them told for all: data sets of one fingerprint may differ in what it does not cover.
std::string places_of(const Dataset& dataset) {
  constexpr std::int64_t kLookedAt = 64;
  const std::int64_t last = dataset.size() - 1;
  std::vector<std::int64_t> samples;
  for (std::int64_t i = 0; i < kLookedAt; ++i) samples.push_back(last / (kLookedAt - 1) * i);
  samples.push_back(last);
  dataset.prepare(samples);
  std::string places;
  for (const std::int64_t sample : samples) {
    const SampleRow row = dataset.row(sample);
    places += fmt::format("{}:{} ", row.source->name(), row.fields.empty() ? 0 : row.fields.front().offset);
  }
  return places;
}

}  // namespace

std::unique_ptr<CacheShare> cache_share(const Dataset& dataset, const Plan& plan, const LoaderOptions& options,
                                        std::uint64_t bytes) {
  if (bytes == 0) return nullptr;
  if (*options.world == 1) return std::make_unique<CacheShare>("", bytes);
  const std::string what =
      fmt::format("{} {} {} {} {} {} {} {}", job_name(process_environment()), ::geteuid(), dataset.fingerprint(),
                  dataset.size(), dataset.bytes(), places_of(dataset), fmt::join(plan.fields(), ","), bytes);
  return std::make_unique<CacheShare>("stoker-" + to_hex(hash64(what)), bytes);
}

TuneMode parse_tune_mode(std::string_view word) { return value_of(kTuneModeWords, word, "no way to tune"); }

Knobs fixed_knobs(const LoaderOptions& options) {
  Knobs fixed{.prefetch = options.prefetch, .transfer_index = options.transfer_index, .io_depth = options.io_depth};
  if (options.threads != 0) fixed.threads = options.threads;
  if (!options.device) fixed.transfer_index = kTransferIndexMax;
  if (options.nvjpeg && !fixed.transfer_index) fixed.transfer_index = 0;  // at others the pixels are not nvJPEG's
  return fixed;
}

LoaderOptions complete_options(const Dataset& dataset, const Recipe& recipe, LoaderOptions options) {
  if (dataset.size() == 0) fail(ErrorKind::kData, "the data set is empty: there is nothing to train on");
  if (options.cache_memory && options.cache == CacheKind::kNone) {
    fail(ErrorKind::kUsage, "cache memory is given, but there is no cache; ask for cache ram, or leave it out");
  }
  options = resolved(std::move(options));
  if (!options.memory) options.memory = usable_memory() / 4;
  if (options.device_memory && !options.device) {
    fail(ErrorKind::kUsage, "device memory is given, but there is no device; name one, or leave it out");
  }
  if (options.device && options.pin_memory) {
    fail(ErrorKind::kUsage, "batches are pinned for consumers that copy them; with {} they are there already",
         options.device->name());
  }
  if (options.nvjpeg) {
    if (!options.device) {
      fail(ErrorKind::kUsage,
           "nvjpeg is asked for, but there is no device that it decodes on; name one, or leave it out");
    }
    options.device->open_nvjpeg();
  }
  if (!options.device_memory) {
    const std::uint64_t own = options.device ? options.device->memory_bytes() : 0;
    options.device_memory = own > 0 ? own / 4 : UINT64_MAX;
  }
  if (!options.transfer_index) options.transfer_index = options.device ? 0 : kTransferIndexMax;
  check_transfer_index(*options.transfer_index, options.device.get());
  if (options.device && !options.device->computes() && !options.audit.empty()) {
    fail(ErrorKind::kUsage,
         "{} computes nothing, so that there is nothing to audit; use emulated:execute, or no device",
         options.device->name());
  }
  if (options.io_depth) check_io_depth(*options.io_depth);
  if (!options.metrics_address.empty()) {
    options.metrics_address = parse_metrics_address(options.metrics_address).text();
  } else if (!options.name.empty()) {
    fail(ErrorKind::kUsage, "a name tells loaders apart whose metrics are served, but there is no metrics address");
  }
  if (!options.tail) options.tail = parse_tail(recipe.tail());
  check_order(dataset, options);
  if (*options.tail == Tail::kDrop && dataset.size() * options.repeats < options.global_batch) {
    fail(ErrorKind::kUsage,
         "an epoch has {}, fewer than one global batch of {}; use a smaller batch, or tail wrap, pad or keep",
         counted(dataset.size() * options.repeats, "sample"), options.global_batch);
  }
  return options;
}

NearCores loader_cores(const LoaderOptions& options) {
  const std::string bus_id = options.device && options.pin_threads ? options.device->bus_id() : std::string();
  return bus_id.empty() ? NearCores() : cores_near(bus_id);
}

void check_transfer_index(int index, const Device* device) {
  if (index < 0 || index > kTransferIndexMax) {
    fail(ErrorKind::kUsage, "a transfer index of {} is none; it goes from 0 to {}", index, kTransferIndexMax);
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
  fail(ErrorKind::kUsage, "an I/O depth of {} is none; it goes from 1 to {}", depth, kIoDepthMax);
}

void check_prefetch(int prefetch, const LoaderBatchBytes& batch_bytes, const LoaderBatchBytes& batch_memory_max) {
  if (prefetch < 1) fail(ErrorKind::kUsage, "prefetch must be at least 1, not {}", prefetch);
  const auto check = [&](std::size_t bytes, std::size_t bytes_max, std::string_view memory) {
    const std::size_t needed = least_batch_memory(prefetch, bytes);
    if (needed <= bytes_max) return;
    fail(ErrorKind::kMemory,
         "{} prefetched batches of {} and one in use need {} of {}, but the budget leaves {}; use a smaller batch or "
         "prefetch, or more {}",
         prefetch, human(bytes), human(needed), memory, human(bytes_max), memory);
  };
  check(batch_bytes.host, batch_memory_max.host, "memory");
  check(batch_bytes.device, batch_memory_max.device, "device memory");
}

MemoryPlan plan_memory(const Dataset& dataset, const Plan& plan, const LoaderOptions& options) {
  if (plan.views().size() > kOutputsMax) {
    fail(ErrorKind::kLimit, "the recipe has {}; at most {} are possible", counted(plan.views().size(), "output"),
         kOutputsMax);
  }
  MemoryPlan memory = least_memory(dataset, plan, options);
  if (*options.memory < memory.total()) {
    fail(ErrorKind::kMemory, "a memory budget of {} cannot work; the least for this batch and prefetch is {}{}",
         human(*options.memory), whole_megabytes(memory.total()),
         memory.cache > 0 ? fmt::format(", with a cache of {}", human(memory.cache)) : "");
  }
  std::uint64_t left = *options.memory - memory.total();
  const auto give = [&left](std::uint64_t& part, std::uint64_t bytes) {
    part += bytes;
    left -= bytes;
  };
  if (options.cache == CacheKind::kRam && !options.cache_memory) {
    give(memory.cache, std::min(whole_cache_bytes(dataset) - memory.cache, left / 2));
  }
  const std::int64_t ahead = tickets_ahead(order_options(dataset, options), *options.world);
  if (!options.prefetch && options.tune != TuneMode::kOff) {
    give(memory.tickets, std::min(left / 8, tickets_memory(options, kPrefetchTuned, ahead) - memory.tickets));
  }
  give(memory.read_ahead, std::min(left / 2, std::max(kReadAheadMax, bytes_of(dataset, ahead)) - kReadAheadMin));
  give(memory.scratch, left - left / 4);  // more batches than were asked for are seldom of use, large images common
  give(memory.batches, left);
  return memory;
}

std::uint64_t memory_for(const Dataset& dataset, const Plan& plan, const LoaderOptions& options,
                         const SampleNeeds& needs) {
  LoaderOptions tried = options;
  const std::uint64_t sample_bytes = std::min(needs.sample_bytes, BoardOptions().sample_bytes_max);
  const auto works = [&](std::uint64_t budget) {
    tried.memory = budget;
    const MemoryPlan memory = plan_memory(dataset, plan, tried);
    return sample_bytes_max(dataset, plan, tried, memory) >= sample_bytes &&
           ScratchBudget(memory.scratch, tried.threads, usable_cores()).can_ever_hold(needs.decode_bytes);
  };
  std::uint64_t enough = least_memory(dataset, plan, options).total();
  if (works(enough)) return enough;
  std::uint64_t too_little = enough;
  while (!works(enough)) too_little = enough, enough *= 2;
  while (enough - too_little > 1) {
    const std::uint64_t middle = too_little + (enough - too_little) / 2;
    (works(middle) ? enough : too_little) = middle;
  }
  return enough;
}

namespace {

// What was tuned, for those who find its report later: whose, of what data and recipe, where and when.
std::string tuning_title(const Dataset& dataset, const Plan& plan, const LoaderOptions& options,
                         std::string_view device) {
  std::vector<std::string> operators;
  for (const StageSpec& stage : plan.stages()) {
    operators.insert(operators.end(), stage.operators.begin(), stage.operators.end());
  }
  const std::size_t shards = dataset.shard_samples().size();
  const std::string more = shards > 1 ? fmt::format(" and {}", counted(shards - 1, "other shard")) : "";
  return fmt::format("{}{} of {}{}; {}; batches of {}, device {}, on {}; begun {:%Y-%m-%d %H:%M} UTC",
                     options.name.empty() ? "" : options.name + ": ", counted(dataset.size(), "sample"),
                     dataset.row(0).source->name(), more, fmt::join(operators, ", "), options.batch, device,
                     machine_name(), fmt::gmtime(std::time(nullptr)));
}

}  // namespace

std::optional<SelfTuningOptions> tuning_options(const Dataset& dataset, const Plan& plan, const LoaderOptions& options,
                                                const Knobs& fixed, const MemoryPlan& memory) {
  if (options.tune == TuneMode::kOff || fixed.all()) return std::nullopt;
  const LoaderBatchBytes batch_bytes = bytes_of_batch(dataset, plan, options);
  const std::int64_t ahead = tickets_ahead(order_options(dataset, options), *options.world);
  const auto fits = [=](int prefetch) {
    return tickets_memory(options, prefetch, ahead) <= memory.tickets &&
           least_batch_memory(prefetch, batch_bytes.host) <= memory.batches &&
           least_batch_memory(prefetch, batch_bytes.device) <= *options.device_memory;
  };
  int prefetch_max = fixed.prefetch.value_or(kPrefetchTuned);
  while (prefetch_max > first_prefetch(options) && !fits(prefetch_max)) --prefetch_max;
  const std::string device = options.device ? options.device->name() : "cpu";
  SelfTuningOptions tuning;
  tuning.once = options.tune == TuneMode::kOnce;
  tuning.title = tuning_title(dataset, plan, options, device);
  tuning.workload.cores = cores_of(options);
  tuning.workload.batch = options.batch;
  tuning.workload.prefetch_max = prefetch_max;
  tuning.workload.io_depth_max = kIoDepthTuned;
  tuning.limits.fixed = fixed;
  tuning.limits.fits = [prefetch_max](int /*transfer_index*/, int prefetch) { return prefetch <= prefetch_max; };
  tuning.cores = loader_cores(options).cores;
  tuning.share.threads_max = threads_max(tuning.workload.cores);
  tuning.cache_folder = user_cache_folder();
  tuning.key = {.machine = machine_name(),
                .device = device,
                .data = dataset.fingerprint(),
                .recipe = hash64(plan.recipe().to_toml()),
                .batch = options.batch,
                .world = *options.world};
  tuning.moved = options.tuned;
  return tuning;
}

BoardOptions board_options(const Dataset& dataset, const Plan& plan, const LoaderOptions& options,
                           const MemoryPlan& memory) {
  BoardOptions board;
  board.outputs = plan.outputs();
  board.device = device_side(dataset, plan, options);
  board.transfer_index = *options.transfer_index;
  board.order = order_options(dataset, options);
  if (options.order == OrderKind::kWindowed) {
    board.order.shard_samples = std::make_shared<const std::vector<std::int64_t>>(dataset.shard_samples());
  }
  board.slice = {.rank = *options.rank, .world = *options.world, .batch = options.batch};
  board.fields = plan.fields();
  board.planar.resize(board.fields.size());
  for (const ViewPlan& view : plan.views()) {
    const bool planar = view.kind == ViewKind::kImage && view.image.decode.mode == DecodeMode::kPlanar;
    if (planar) board.planar[static_cast<std::size_t>(view.field)] = true;
  }
  board.raw_windows = RawWindows(plan, options.seed);
  board.prefetch = first_prefetch(options);
  board.bad_sample = options.bad_sample;
  board.reserve_bytes = kReserve;
  board.epochs_end = options.epochs_end;
  board.tickets_ahead = tickets_ahead(board.order, *options.world);
  board.read_ahead_bytes = memory.read_ahead;
  board.near_bytes = near_bytes(dataset, board);
  board.batch_memory_max = {.host = memory.batches, .device = *options.device_memory};
  board.sample_bytes_max = sample_bytes_max(dataset, plan, options, memory);
  const LoaderBatchBytes batch_bytes = bytes_of_batch(dataset, plan, options);
  check_prefetch(board.prefetch, batch_bytes, board.batch_memory_max);
  return board;
}

LoaderIdentity loader_identity(const Dataset& dataset, const Plan& plan, const OrderOptions& order, bool nvjpeg) {
  return {.data = dataset.fingerprint(),
          .samples = dataset.size(),
          .recipe = hash64(plan.recipe().to_toml()),
          .order = order,
          .semantics = kSemanticsVersion,
          .nvjpeg = nvjpeg};
}

std::uint64_t device_memory_bytes_min(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options) {
  const LoaderOptions full = resolved(options);
  return least_batch_memory(std::max(first_prefetch(full), 1), bytes_of_batch(dataset, Plan(recipe), full).device);
}

std::uint64_t memory_bytes_min(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options) {
  return least_memory(dataset, Plan(recipe), resolved(options)).total();
}

std::uint64_t memory_bytes_enough(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options) {
  const Plan plan(recipe);
  return memory_for(dataset, plan, resolved(options), largest_needs(dataset, plan, options.limits));
}

}  // namespace stoker
