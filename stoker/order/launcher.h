// The rank and world of this process, as the program that started it says in the environment.
#pragma once

#include <optional>
#include <string>

#include "stoker/base/environment.h"

namespace stoker {

struct RankOfWorld {
  int rank = 0, world = 1;

  friend bool operator==(const RankOfWorld&, const RankOfWorld&) = default;
};

/// The rank and world that were given, or else those of the launcher: torchrun, Open MPI, PMI or PMIx, a Slurm step, in
/// this order; without a launcher, rank 0 of 1. A launcher that only started the launcher of this process is ignored.
/// Throws kUsage if two disagree, showing both, and for invalid numbers.
RankOfWorld find_rank(std::optional<int> rank, std::optional<int> world, const Environment& environment);

/// A text that is the same for all processes of the job on this host and differs between jobs: from the launcher's
/// variables, or from the parent process that they share.
std::string job_name(const Environment& environment);

}  // namespace stoker
