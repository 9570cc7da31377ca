// Which of how many processes this one is, as the program that started it says in the environment.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace stoker {

struct RankOfWorld {
  int rank = 0, world = 1;

  friend bool operator==(const RankOfWorld&, const RankOfWorld&) = default;
};

/// The value of an environment variable, if it is set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

Environment process_environment();

/// What was given, or else what the launcher says: torchrun, Open MPI, PMI or PMIx, a Slurm step, in this order; alone
/// in the world where there is none. A launcher that only started the launcher of this process has no say. Throws
/// kUsage, showing both, where two disagree, and for numbers that make no sense.
RankOfWorld find_rank(std::optional<int> rank, std::optional<int> world, const Environment& environment);

/// The same text for all processes of the job on this host, and another for other jobs: as the launcher says, or by the
/// parent that they share.
std::string job_name(const Environment& environment);

}  // namespace stoker
