// From what the user asked for to what the ticket board works with: checks, defaults and the division of memory.
#pragma once

#include "stoker/plan/plan.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/ticket_board.h"

namespace stoker {

/// The options with every default filled in: batch, threads, memory, tail. Throws kUsage or kData with the reason.
LoaderOptions complete_options(const Dataset& dataset, const Recipe& recipe, LoaderOptions options);

constexpr std::size_t kOutputsMax = 16;  // of a recipe

/// Throws kUsage, kLimit or kMemory for options (complete ones) that cannot work.
BoardOptions board_options(const Dataset& dataset, const Plan& plan, const LoaderOptions& options);

/// Throws kUsage for a prefetch below 1, kMemory for one whose batches do not fit.
void check_prefetch(int prefetch, std::size_t batch_bytes, std::size_t batch_memory_max);

}  // namespace stoker
