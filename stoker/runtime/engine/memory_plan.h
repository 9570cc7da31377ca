// How a loader's budget is divided: once, before anything is allocated.
#pragma once

#include <cstdint>

#include "stoker/format/dataset.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/board/loader_batch.h"
#include "stoker/runtime/resolved_options.h"
#include "stoker/runtime/samples/sample_needs.h"

namespace stoker {

/// In bytes.
struct MemoryPlan {
  std::uint64_t cache = 0;         // of encoded samples; the ranks of a host that share it count it in full each
  std::uint64_t disk_cache = 0;    // what waits to be written to it
  std::uint64_t entry_points = 0;  // of JPEGs behind a network
  std::uint64_t tickets = 0;       // what is known of samples that were drawn
  std::uint64_t read_ahead = 0;    // encoded samples on their way
  std::uint64_t scratch = 0;       // what decoding needs
  std::uint64_t batches = 0;

  std::uint64_t total() const { return cache + disk_cache + entry_points + tickets + read_ahead + scratch + batches; }
};

/// Throws kLimit for too many outputs, kMemory for a budget that cannot work, saying the least that does.
MemoryPlan plan_memory(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options);

/// The least of everything; of the cache what was asked for by size.
MemoryPlan least_memory(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options);
/// The least of the device's.
std::uint64_t least_device_memory(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options);

/// The least budget with which samples that need so much can be had, and everything else works.
std::uint64_t memory_for(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options,
                         const SampleNeeds& needs);

/// The largest sample that can be had: it has the read-ahead to itself, and all that batches do not need.
std::uint64_t sample_bytes_max(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options,
                               const MemoryPlan& memory);

/// The most batches that can be made ahead, up to `wanted` and no fewer than the options begin with.
int most_prefetch(int wanted, const Dataset& dataset, const Plan& plan, const ResolvedOptions& options,
                  const MemoryPlan& memory);

/// Throws kUsage for a prefetch below 1, kMemory for one whose batches do not fit.
void check_prefetch(int prefetch, const LoaderBatchBytes& batch_bytes, const LoaderBatchBytes& shared_bytes,
                    const LoaderBatchBytes& batch_memory_max);

/// How many samples of this rank are drawn ahead: those of the windows for the windowed order, otherwise 0.
std::int64_t windows_tickets(const ResolvedOptions& options);
/// The same, and for data behind a network as many as fill its read-ahead.
std::int64_t tickets_ahead(const Dataset& dataset, const ResolvedOptions& options);

/// What so many samples take of the read-ahead, on average.
std::size_t read_ahead_of(const Dataset& dataset, std::int64_t samples);

/// What the read-ahead takes while its reads are fast enough to keep the workers busy.
std::size_t least_read_ahead(const Dataset& dataset, const ResolvedOptions& options, std::size_t read_ahead);

/// How much of the read-ahead is read without waiting for neighbours.
std::size_t near_bytes(const Dataset& dataset, const ResolvedOptions& options, std::size_t read_ahead);

DeviceSide device_side(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options);
LoaderBatchBytes bytes_of_batch(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options);
LoaderBatchBytes shared_by_batches(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options);

constexpr std::size_t kArenaReserve = std::size_t{256} << 10;  // for samples that stand in for bad ones: it grows
constexpr int kPrefetchTuned = 16;  // at most: what comes less regularly than that is not to be evened out

}  // namespace stoker
