#include "stoker/runtime/engine/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/machine.h"
#include "stoker/base/units.h"
#include "stoker/base/words.h"
#include "stoker/runtime/board/sample_locator.h"
#include "stoker/runtime/engine/scratch_budget.h"

namespace stoker {
namespace {

// Encoded samples that wait for a worker: some hundred photographs. More would not make local storage faster. Over a
// network, what comes in the time of an answer is under way at once: half of this is read without waiting for
// neighbours (near_bytes()), so that 100 ms at 10 Gbit/s, or 300 ms at 3, are filled. Of small samples it takes more
// to fill it than there are ever requests at once.
constexpr std::size_t kReadAheadMax = std::size_t{64} << 20, kReadAheadFarMax = std::size_t{256} << 20;
constexpr std::int64_t kTicketsFar = 4096;
constexpr std::size_t kReadAheadMin = std::size_t{1} << 20;
// What they are where storage is fast, while workers stay busy: a part of a processor's last caches, and enough that
// the reader is not woken for each sample.
constexpr std::size_t kReadAheadFew = std::size_t{8} << 20;

// What waits to be written to a cache on a disk: that is uneven for some tenths of a second.
constexpr std::uint64_t kCacheWritesMin = std::uint64_t{1} << 20, kCacheWritesMax = std::uint64_t{64} << 20;

// What decoding needs at least: enough for a photograph of some four million pixels at a time, and something for each
// worker.
constexpr std::uint64_t kScratchMin = std::uint64_t{16} << 20, kScratchEach = std::uint64_t{1} << 20;

// A ticket, and what its strings and lists have of the heap.
std::uint64_t ticket_bytes(std::int64_t tickets) {
  constexpr std::uint64_t kHeap = 256;
  return static_cast<std::uint64_t>(tickets) * (sizeof(Ticket) + kHeap);
}

// The windowed order is read window by window if a window's samples are all drawn before the first of them is wanted:
// all windows in use, and this part of them more, which is the time to read in.
constexpr double kWindowSlack = 0.25;

std::string human(std::size_t bytes) { return format_size(static_cast<double>(bytes)); }

// The batches made ahead, and the one that the consumer holds; more than any machine has where the product overflows.
std::size_t least_batch_memory(int prefetch, std::size_t batch_bytes) {
  std::size_t bytes;
  const bool overflows = __builtin_mul_overflow(static_cast<std::size_t>(prefetch) + 1, batch_bytes, &bytes);
  return overflows ? SIZE_MAX / 2 : bytes;
}

/// What a cache of all samples takes.
std::uint64_t whole_cache_bytes(const Dataset& dataset) {
  return SampleCache::overhead(dataset.size()) + dataset.bytes() +
         static_cast<std::uint64_t>(dataset.size()) * SampleCache::kUnit;
}

std::uint64_t tickets_memory(const ResolvedOptions& options, int prefetch, std::int64_t ahead) {
  return kArenaReserve + ticket_bytes(std::max(ahead, (prefetch + std::int64_t{1}) * options.batch));
}

bool is_far(const Dataset& dataset) { return !dataset.meters().empty(); }

// Of photographs they are 1.6% of the bytes, of JPEGs with 32 to 256 pixels a side 1% to 3%. Nothing is allocated
// before it is read.
constexpr std::uint64_t kEntryPointsPart = 16;

std::uint64_t most_entry_points(const Dataset& dataset, const Plan& plan) {
  const bool any = std::any_of(plan.views().begin(), plan.views().end(),
                               [](const ViewPlan& view) { return view.kind == ViewKind::kImage; });
  return any && is_far(dataset) ? dataset.bytes() / kEntryPointsPart : 0;
}

/// Each sample is padded, by half a unit on average.
double mean_bytes_in_arena(const Dataset& dataset) {
  return static_cast<double>(dataset.bytes()) / static_cast<double>(dataset.size()) +
         static_cast<double>(EncodedArena::kUnit) / 2;
}

}  // namespace

std::int64_t windows_tickets(const ResolvedOptions& options) {
  const OrderOptions& order = options.order;
  if (order.kind != OrderKind::kWindowed) return 0;
  const double lanes = static_cast<double>(order.lanes) / options.world;
  const double samples = std::min(lanes * static_cast<double>(order.window), static_cast<double>(order.samples));
  // With batch repeats a rank reads more lanes, or its own several times: as many tickets in either case.
  const double copies = static_cast<double>(order.repeats) * static_cast<double>(order.batch_repeats);
  return static_cast<std::int64_t>((1 + kWindowSlack) * samples * copies) + 1;
}

std::int64_t tickets_ahead(const Dataset& dataset, const ResolvedOptions& options) {
  const std::int64_t windows = windows_tickets(options);
  if (!is_far(dataset)) return windows;
  const auto filled = static_cast<std::int64_t>(static_cast<double>(kReadAheadFarMax) / mean_bytes_in_arena(dataset));
  // What is drawn again before it has come, in the next epoch, no cache can have.
  const std::int64_t of_epoch = options.order.samples / options.world / 4;
  return std::max(windows, std::min({filled, kTicketsFar, of_epoch}));
}

std::size_t read_ahead_of(const Dataset& dataset, std::int64_t samples) {
  return static_cast<std::size_t>(std::min(mean_bytes_in_arena(dataset) * static_cast<double>(samples), 1e15));
}

// A window is read as a whole, and a network is to be filled.
std::size_t least_read_ahead(const Dataset& dataset, const ResolvedOptions& options, std::size_t read_ahead) {
  return is_far(dataset) || windows_tickets(options) > 0 ? read_ahead : std::min(kReadAheadFew, read_ahead);
}

// Of the windowed order, what its slack is. Of others half, so that the reads of slow storage do not shrink to what
// workers give back at a time.
std::size_t near_bytes(const Dataset& dataset, const ResolvedOptions& options, std::size_t read_ahead) {
  const std::int64_t tickets = windows_tickets(options);
  if (tickets == 0) return read_ahead / 2;
  const std::size_t windows = std::min(read_ahead_of(dataset, tickets), read_ahead);
  return static_cast<std::size_t>(kWindowSlack / (1 + kWindowSlack) * static_cast<double>(windows));
}

DeviceSide device_side(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options) {
  return {.device = options.given.device.get(),
          .plan = &plan,
          .image_bytes = mean_sample_bytes(dataset),
          .nvjpeg = options.given.nvjpeg};
}

LoaderBatchBytes bytes_of_batch(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options) {
  return loader_batch_bytes(plan.outputs(), options.batch, device_side(dataset, plan, options));
}

LoaderBatchBytes shared_by_batches(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options) {
  return shared_batch_bytes(options.batch, device_side(dataset, plan, options));
}

namespace {

// The batches made ahead, the one that the consumer holds, and what they share.
LoaderBatchBytes memory_of_batches(int prefetch, const Dataset& dataset, const Plan& plan,
                                   const ResolvedOptions& options) {
  const LoaderBatchBytes batch = bytes_of_batch(dataset, plan, options);
  const LoaderBatchBytes shared = shared_by_batches(dataset, plan, options);
  return {.host = least_batch_memory(prefetch, batch.host) + shared.host,
          .device = least_batch_memory(prefetch, batch.device) + shared.device};
}

LoaderBatchBytes least_of_batches(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options) {
  return memory_of_batches(std::max(options.knobs.prefetch, 1), dataset, plan, options);
}

}  // namespace

MemoryPlan least_memory(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options) {
  const int prefetch = std::max(options.knobs.prefetch, 1);
  const std::int64_t ahead = tickets_ahead(dataset, options);
  const std::uint64_t table = SampleCache::overhead(dataset.size());
  const bool sized = options.cache_memory != ResolvedOptions::kAllSamples;
  return {.cache = options.given.cache == CacheKind::kRam ? std::max(sized ? options.cache_memory : 0, table) : 0,
          .disk_cache = options.given.cache == CacheKind::kDisk ? kCacheWritesMin : 0,
          .tickets = tickets_memory(options, prefetch, ahead),
          .read_ahead = kReadAheadMin,
          .scratch = kScratchMin + static_cast<std::uint64_t>(options.knobs.threads) * kScratchEach,
          .batches = least_of_batches(dataset, plan, options).host};
}

std::uint64_t sample_bytes_max(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options,
                               const MemoryPlan& memory) {
  const std::uint64_t batches = least_of_batches(dataset, plan, options).host;
  return std::min(LocatorOptions().sample_bytes_max, memory.read_ahead + memory.batches - batches);
}

void check_prefetch(int prefetch, const LoaderBatchBytes& batch_bytes, const LoaderBatchBytes& shared_bytes,
                    const LoaderBatchBytes& batch_memory_max) {
  if (prefetch < 1) fail(ErrorKind::kUsage, "prefetch must be at least 1, not {}", prefetch);
  const auto check = [&](std::size_t bytes, std::size_t shared, std::size_t bytes_max, std::string_view memory) {
    const std::size_t needed = least_batch_memory(prefetch, bytes) + shared;
    if (needed <= bytes_max) return;
    const std::string and_shared = shared > 0 ? fmt::format(", with {} that they share,", human(shared)) : "";
    fail(ErrorKind::kMemory,
         "{} prefetched batches of {} and one in use{} need {} of {}, but the budget leaves {}; use a smaller batch or "
         "prefetch, or more {}",
         prefetch, human(bytes), and_shared, human(needed), memory, human(bytes_max), memory);
  };
  check(batch_bytes.host, shared_bytes.host, batch_memory_max.host, "memory");
  check(batch_bytes.device, shared_bytes.device, batch_memory_max.device, "device memory");
}

MemoryPlan plan_memory(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options) {
  if (plan.views().size() > kOutputsMax) {
    fail(ErrorKind::kLimit, "the recipe has {}; at most {} are possible", counted(plan.views().size(), "view"),
         kOutputsMax);
  }
  MemoryPlan memory = least_memory(dataset, plan, options);
  if (options.memory < memory.total()) {
    fail(ErrorKind::kMemory, "a memory budget of {} cannot work; the least for this batch and prefetch is {}{}",
         human(options.memory), whole_megabytes(memory.total()),
         memory.cache > 0 ? fmt::format(", with a cache of {}", human(memory.cache)) : "");
  }
  std::uint64_t left = options.memory - memory.total();
  const auto give = [&left](std::uint64_t& part, std::uint64_t bytes) {
    part += bytes;
    left -= bytes;
  };
  if (options.given.cache == CacheKind::kRam && options.cache_memory == ResolvedOptions::kAllSamples) {
    give(memory.cache, std::min(whole_cache_bytes(dataset) - memory.cache, left / 2));
  }
  if (memory.disk_cache > 0) give(memory.disk_cache, std::min(left / 8, kCacheWritesMax - kCacheWritesMin));
  give(memory.entry_points, std::min(left / 8, most_entry_points(dataset, plan)));
  const std::int64_t ahead = tickets_ahead(dataset, options);
  if (!options.fixed.prefetch && options.given.tune != TuneMode::kOff) {
    give(memory.tickets, std::min(left / 8, tickets_memory(options, kPrefetchTuned, ahead) - memory.tickets));
  }
  const std::size_t windows = read_ahead_of(dataset, windows_tickets(options));
  const std::size_t most = std::max(is_far(dataset) ? kReadAheadFarMax : kReadAheadMax, windows);
  give(memory.read_ahead, std::min(left / 2, most - kReadAheadMin));
  give(memory.scratch, left - left / 4);  // more batches than were asked for are seldom of use, large images common
  give(memory.batches, left);
  return memory;
}

std::uint64_t memory_for(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options,
                         const SampleNeeds& needs) {
  ResolvedOptions tried = options;
  const std::uint64_t sample_bytes = std::min(needs.sample_bytes, LocatorOptions().sample_bytes_max);
  const auto works = [&](std::uint64_t budget) {
    tried.memory = budget;
    const MemoryPlan memory = plan_memory(dataset, plan, tried);
    return sample_bytes_max(dataset, plan, tried, memory) >= sample_bytes &&
           ScratchBudget(memory.scratch, tried.knobs.threads, usable_cores()).can_ever_hold(needs.decode_bytes);
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

std::uint64_t least_device_memory(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options) {
  return least_of_batches(dataset, plan, options).device;
}

int most_prefetch(int wanted, const Dataset& dataset, const Plan& plan, const ResolvedOptions& options,
                  const MemoryPlan& memory) {
  const std::int64_t ahead = tickets_ahead(dataset, options);
  const auto fits = [&](int prefetch) {
    const LoaderBatchBytes batches = memory_of_batches(prefetch, dataset, plan, options);
    return tickets_memory(options, prefetch, ahead) <= memory.tickets && batches.host <= memory.batches &&
           batches.device <= options.device_memory;
  };
  while (wanted > options.knobs.prefetch && !fits(wanted)) --wanted;
  return wanted;
}

}  // namespace stoker
