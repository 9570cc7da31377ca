// From what the user asked for to what the ticket board works with: checks, defaults and the division of memory.
#pragma once

#include <memory>

#include "stoker/base/topology.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/engine/ticket_board.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/loader_state.h"
#include "stoker/runtime/samples/sample_needs.h"
#include "stoker/runtime/share/cache_share.h"
#include "stoker/runtime/tuning/self_tuning.h"

namespace stoker {

/// The knobs that are not to be tuned, of options before they are completed.
Knobs fixed_knobs(const LoaderOptions& options);

/// The options with every default filled in: batch, threads, memory, tail. Throws kUsage or kData with the reason.
LoaderOptions complete_options(const Dataset& dataset, const Recipe& recipe, LoaderOptions options);

/// How the budget is divided, in bytes.
struct MemoryPlan {
  std::uint64_t cache = 0;       // of encoded samples; the ranks of a host that share it count it in full each
  std::uint64_t tickets = 0;     // what is known of samples that were drawn
  std::uint64_t read_ahead = 0;  // encoded samples on their way
  std::uint64_t scratch = 0;     // what decoding needs
  std::uint64_t batches = 0;

  std::uint64_t total() const { return cache + tickets + read_ahead + scratch + batches; }
};

/// For complete options and the device that `plan` is for. Throws kLimit for too many outputs, kMemory for a budget
/// that cannot work, saying the least that does.
MemoryPlan plan_memory(const Dataset& dataset, const Plan& plan, const LoaderOptions& options);

/// The least budget with which samples that need so much can be had, and everything else works. For complete options.
std::uint64_t memory_for(const Dataset& dataset, const Plan& plan, const LoaderOptions& options,
                         const SampleNeeds& needs);

/// For complete options and their memory.
BoardOptions board_options(const Dataset& dataset, const Plan& plan, const LoaderOptions& options,
                           const MemoryPlan& memory);

/// What is to be tuned, and within what limits; nullopt if nothing is. For complete options, knobs that are `fixed`,
/// and memory that was divided for them.
std::optional<SelfTuningOptions> tuning_options(const Dataset& dataset, const Plan& plan, const LoaderOptions& options,
                                                const Knobs& fixed, const MemoryPlan& memory);

/// So much memory for the cache that complete options ask for, shared with other ranks on this host; null without.
std::unique_ptr<CacheShare> cache_share(const Dataset& dataset, const Plan& plan, const LoaderOptions& options,
                                        std::uint64_t bytes);

/// What a state of a loader is of.
LoaderIdentity loader_identity(const Dataset& dataset, const Plan& plan, const OrderOptions& order, bool nvjpeg);

/// Throws kUsage for one that there is not, or that leaves work to a device that there is not.
void check_transfer_index(int index, const Device* device);

/// Throws kUsage for one that is out of range.
void check_io_depth(int depth);

/// Cores that a loader's threads keep to; none: they run anywhere.
NearCores loader_cores(const LoaderOptions& options);

/// Throws kUsage for a prefetch below 1, kMemory for one whose batches do not fit.
void check_prefetch(int prefetch, const LoaderBatchBytes& batch_bytes, const LoaderBatchBytes& batch_memory_max);

}  // namespace stoker
