#include "stoker/order/launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/error.h"

namespace stoker {
namespace {

/// What somebody says of this process; PMIx does not say how large the world is, arguments may leave either out.
struct Statement {
  std::string_view by;
  std::optional<int> rank, world;
};

struct Launcher {
  std::string_view name;
  const char* rank;
  const char* world;
};

constexpr std::array<Launcher, 4> kLaunchers = {{{"torchrun", "RANK", "WORLD_SIZE"},
                                                 {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                 {"PMI", "PMI_RANK", "PMI_SIZE"},
                                                 {"PMIx", "PMIX_RANK", nullptr}}};
constexpr Launcher kSlurm{"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"};

std::optional<int> number_in(const Environment& environment, const char* name) {
  const std::optional<std::string> text = name ? environment(name) : std::nullopt;
  if (!text || text->empty()) return std::nullopt;
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < 0) {
    fail(ErrorKind::kUsage, "the environment variable {} is '{}' and not a number", name, *text);
  }
  return number;
}

std::optional<Statement> statement_of(const Launcher& launcher, const Environment& environment) {
  const Statement statement{launcher.name, number_in(environment, launcher.rank),
                            number_in(environment, launcher.world)};
  if (!statement.rank && !statement.world) return std::nullopt;
  if (!statement.rank || (!statement.world && launcher.world)) {
    fail(ErrorKind::kUsage, "of the environment variables {} and {}, which {} sets, only one is set", launcher.rank,
         launcher.world, launcher.name);
  }
  return statement;
}

/// Slurm numbers the tasks of a step, outside of which there is one process. A step of one task on each node may be of
/// launchers that started several processes each, `world` in all.
std::optional<Statement> slurm_statement(std::optional<int> world, const Environment& environment) {
  if (!environment("SLURM_STEP_ID")) return std::nullopt;
  const std::optional<Statement> statement = statement_of(kSlurm, environment);
  if (!statement || !world) return statement;
  const int tasks = *statement->world;
  const bool one_a_node = tasks > 0 && tasks == number_in(environment, "SLURM_STEP_NUM_NODES");
  return one_a_node && *world > tasks && *world % tasks == 0 ? std::nullopt : statement;
}

std::string in_words(const Statement& statement) {
  if (!statement.rank) return fmt::format("one of {}", *statement.world);
  return statement.world ? fmt::format("rank {} of {}", *statement.rank, *statement.world)
                         : fmt::format("rank {}", *statement.rank);
}

bool disagree(const std::optional<int>& a, const std::optional<int>& b) { return a && b && *a != *b; }

/// What the processes of one job have alike, and those of others not, where a launcher says so.
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

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

RankOfWorld find_rank(std::optional<int> rank, std::optional<int> world, const Environment& environment) {
  std::vector<Statement> statements;
  if (rank || world) statements.push_back({"the arguments", rank, world});
  for (const Launcher& launcher : kLaunchers) {
    if (const auto statement = statement_of(launcher, environment)) statements.push_back(*statement);
  }
  std::optional<int> said_world;
  for (const Statement& statement : statements) {
    if (!said_world) said_world = statement.world;
  }
  if (const auto statement = slurm_statement(said_world, environment)) statements.push_back(*statement);
  if (statements.empty()) return {};

  const Statement& first = statements.front();
  Statement all = first;
  for (const Statement& other : statements) {
    if (disagree(all.rank, other.rank) || disagree(all.world, other.world)) {
      fail(ErrorKind::kUsage,
           "by {} this process is {}, by {} it is {}; leave the arguments out, or unset the variables that a launcher "
           "has left behind",
           first.by, in_words(first), other.by, in_words(other));
    }
    if (!all.rank) all.rank = other.rank;
    if (!all.world) all.world = other.world;
  }
  if (!all.rank || !all.world) {
    fail(ErrorKind::kUsage, "by {} this process is {}, but nothing says {}; give both rank and world", first.by,
         in_words(first), all.rank ? "how many there are" : "which one");
  }
  if (*all.world < 1 || *all.rank < 0 || *all.rank >= *all.world) {
    fail(ErrorKind::kUsage, "by {} this process is {}, which does not exist; ranks run from 0 to world - 1", first.by,
         in_words(all));
  }
  return {*all.rank, *all.world};
}

}  // namespace stoker
