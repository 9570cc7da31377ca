#include "stoker/order/launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"

namespace stoker {
namespace {

/// What a launcher or the arguments say about this process. PMIx does not give the world's size; either may be missing.
struct Statement {
  std::string_view by;
  std::optional<int> rank, world;
};

struct Launcher {
  std::string_view name;
  const char* rank;
  const char* world;
  const char* nodes;  // the number of nodes that its processes run on, or
  const char* local;  // the number of processes on this node
};

constexpr Launcher kSlurm{"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES", nullptr};
constexpr std::array<Launcher, 5> kLaunchers = {
    {{"torchrun", "RANK", "WORLD_SIZE", nullptr, "LOCAL_WORLD_SIZE"},
     {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr, "OMPI_COMM_WORLD_LOCAL_SIZE"},
     {"PMI", "PMI_RANK", "PMI_SIZE", "SLURM_STEP_NUM_NODES", "MPI_LOCALNRANKS"},
     {"PMIx", "PMIX_RANK", nullptr, nullptr, nullptr},
     kSlurm}};

std::optional<int> number_in(const Environment& environment, const char* name) {
  const std::optional<std::string> text = name ? environment(name) : std::nullopt;
  if (!text || text->empty()) return std::nullopt;
  const std::optional<int> number = parse_number<int>(*text);
  if (!number || *number < 0) {
    fail(ErrorKind::kUsage, "the environment variable {} is '{}' and not a number; unset it, or give rank and world",
         name, *text);
  }
  return number;
}

std::optional<Statement> statement_of(const Launcher& launcher, const Environment& environment) {
  const Statement statement{launcher.name, number_in(environment, launcher.rank),
                            number_in(environment, launcher.world)};
  if (!statement.rank && !statement.world) return std::nullopt;
  return statement;
}

/// Throws kUsage for one that lacks what its launcher sets.
void check_complete(const Launcher& launcher, const Statement& statement) {
  if (statement.rank && (statement.world || !launcher.world)) return;
  fail(ErrorKind::kUsage, "only one of the environment variables {} and {}, which {} sets, is set; give rank and world",
       launcher.rank, launcher.world, launcher.name);
}

/// Whether a launcher started one process on each node, each of which started several more, `world` in all.
bool started_launchers(const Launcher& launcher, const Statement& statement, int world,
                       const Environment& environment) {
  if (!statement.world || *statement.world < 1 || world <= *statement.world || world % *statement.world != 0) {
    return false;
  }
  return number_in(environment, launcher.nodes) == statement.world || number_in(environment, launcher.local) == 1;
}

/// The statements: `given`, then those of launchers in the order of kLaunchers, without launchers that only started the
/// launcher of this process.
std::vector<Statement> all_statements(const Statement& given, const Environment& said) {
  // Beside what is given, a variable that is no number says nothing.
  const Environment numbers = [&said](std::string_view name) {
    const std::optional<std::string> text = said(name);
    return text && parse_number<int>(*text) ? text : std::nullopt;
  };
  const Environment& environment = given.rank && given.world ? numbers : said;
  std::vector<Statement> statements;
  if (given.rank || given.world) statements.push_back(given);
  std::optional<int> said_world = given.world;
  std::vector<int> of_launchers;  // ranks
  for (const Launcher& launcher : kLaunchers) {
    // Slurm numbers the tasks of a step, outside of which there is one process.
    if (launcher.name == kSlurm.name && !said("SLURM_STEP_ID")) continue;
    const std::optional<Statement> statement = statement_of(launcher, environment);
    if (!statement) continue;
    if (!given.rank || !given.world) check_complete(launcher, *statement);
    if (said_world && started_launchers(launcher, *statement, *said_world, environment)) {
      if (statement->rank) of_launchers.push_back(*statement->rank);
      continue;
    }
    statements.push_back(*statement);
    if (!said_world) said_world = statement->world;
  }
  // PMIx gives only the rank, which must be that of one of the others.
  std::erase_if(statements, [&](const Statement& statement) {
    return !statement.world && statement.rank && statement.by != given.by &&
           std::find(of_launchers.begin(), of_launchers.end(), *statement.rank) != of_launchers.end();
  });
  return statements;
}

std::string in_words(const Statement& statement) {
  if (!statement.rank) return fmt::format("one of {}", *statement.world);
  return statement.world ? fmt::format("rank {} of {}", *statement.rank, *statement.world)
                         : fmt::format("rank {}", *statement.rank);
}

bool disagree(const std::optional<int>& a, const std::optional<int>& b) { return a && b && *a != *b; }

/// Variables that are equal in all processes of a job, and differ between jobs, if a launcher sets them.
constexpr std::array<std::array<const char*, 3>, 3> kJobs = {
    {{"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"}, {"PMIX_NAMESPACE"}, {"SLURM_JOB_ID", "SLURM_STEP_ID"}}};

}  // namespace

std::string job_name(const Environment& environment) {
  std::string name;
  for (const auto& variables : kJobs) {
    for (const char* const variable : variables) {
      const std::optional<std::string> value = variable ? environment(variable) : std::nullopt;
      if (value) name += fmt::format("{}={} ", variable, *value);
    }
  }
  return name.empty() ? fmt::format("parent={}", ::getppid()) : name;
}

RankOfWorld find_rank(std::optional<int> rank, std::optional<int> world, const Environment& environment) {
  const std::vector<Statement> statements = all_statements({"the arguments", rank, world}, environment);
  if (statements.empty()) return {};

  const Statement& first = statements.front();
  Statement all = first;
  for (const Statement& other : statements) {
    if (disagree(all.rank, other.rank) || disagree(all.world, other.world)) {
      fail(ErrorKind::kUsage,
           "by {} this process is {}, by {} it is {}; omit the arguments, or unset variables that another launcher "
           "left behind",
           first.by, in_words(first), other.by, in_words(other));
    }
    if (!all.rank) all.rank = other.rank;
    if (!all.world) all.world = other.world;
  }
  if (!all.rank || !all.world) {
    fail(ErrorKind::kUsage, "by {} this process is {}, but it is not known {}; give both rank and world", first.by,
         in_words(first), all.rank ? "how many processes there are" : "which one");
  }
  if (*all.world < 1 || *all.rank < 0 || *all.rank >= *all.world) {
    fail(ErrorKind::kUsage, "by {} this process is {}, which does not exist; ranks are numbered from 0 to world - 1",
         first.by, in_words(all));
  }
  return {*all.rank, *all.world};
}

}  // namespace stoker
