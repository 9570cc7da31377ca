#include "stoker/order/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

const Variables kTorchrun{{"RANK", "3"}, {"WORLD_SIZE", "8"}};
const Variables kOpenMpi{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"PMIX_RANK", "3"}};
const Variables kPmi{{"PMI_RANK", "3"}, {"PMI_SIZE", "8"}};
const Variables kSlurmStep{
    {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_NUM_NODES", "4"}};

Environment environment(Variables variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto variable = variables.find(std::string(name));
    return variable == variables.end() ? std::nullopt : std::optional(variable->second);
  };
}

RankOfWorld found(const Variables& variables, std::optional<int> rank = {}, std::optional<int> world = {}) {
  return find_rank(rank, world, environment(variables));
}

Variables joined(Variables a, const Variables& b) {
  for (const auto& [name, value] : b) a[name] = value;
  return a;
}

std::string refusal(const Variables& variables, std::optional<int> rank = {}, std::optional<int> world = {}) {
  const Error error = error_of([&] { found(variables, rank, world); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  return error.message();
}

TEST(FindRank, IsAloneWhereNothingSaysOtherwise) { EXPECT_EQ(found({}), (RankOfWorld{0, 1})); }

TEST(FindRank, AsksEveryLauncher) {
  for (const Variables& variables : {kTorchrun, kOpenMpi, kPmi, kSlurmStep}) {
    EXPECT_EQ(found(variables), (RankOfWorld{3, 8})) << variables.begin()->first;
  }
}

TEST(FindRank, TakesTheArguments) {
  EXPECT_EQ(found({}, 1, 2), (RankOfWorld{1, 2}));
  EXPECT_EQ(found(kTorchrun, 3, 8), (RankOfWorld{3, 8}));
  EXPECT_EQ(found(kTorchrun, 3), (RankOfWorld{3, 8}));
  EXPECT_EQ(found(kTorchrun, {}, 8), (RankOfWorld{3, 8}));
  EXPECT_EQ(found({{"WORLD_SIZE", "2"}}, 1, 2), (RankOfWorld{1, 2})) << "as a framework sets it that knows the rank";
  EXPECT_THAT(refusal({{"WORLD_SIZE", "4"}}, 1, 2), AllOf(HasSubstr("one of 4"), HasSubstr("rank 1 of 2")));
}

TEST(FindRank, ShowsBothThatDisagree) {
  EXPECT_THAT(refusal(kTorchrun, 2, 8), AllOf(HasSubstr("by the arguments this process is rank 2 of 8"),
                                              HasSubstr("by torchrun it is rank 3 of 8")));
  EXPECT_THAT(refusal(kTorchrun, {}, 4), AllOf(HasSubstr("one of 4"), HasSubstr("rank 3 of 8")));
  Variables other = kOpenMpi;
  other["OMPI_COMM_WORLD_SIZE"] = "4";
  EXPECT_THAT(refusal(joined(kTorchrun, other)),
              AllOf(HasSubstr("torchrun this process is rank 3 of 8"), HasSubstr("Open MPI it is rank 3 of 4")));
  other = kOpenMpi;
  other["PMIX_RANK"] = "2";
  EXPECT_THAT(refusal(other), HasSubstr("by PMIx it is rank 2"));
  other = kSlurmStep;
  other["SLURM_PROCID"] = "0";
  EXPECT_THAT(refusal(joined(kPmi, other)), HasSubstr("by Slurm it is rank 0 of 8"));
}

TEST(FindRank, DoesNotListenToAStepOfLaunchers) {
  Variables agents = kSlurmStep;  // srun has started torchrun once on each of 4 nodes, which started 2 processes
  agents["SLURM_STEP_NUM_TASKS"] = "4";
  agents["SLURM_PROCID"] = "1";
  EXPECT_EQ(found(joined(kTorchrun, agents)), (RankOfWorld{3, 8}));
  EXPECT_EQ(found(agents), (RankOfWorld{1, 4})) << "where nothing else started this process, it is one of the step";
  EXPECT_EQ(found(agents, 3, 8), (RankOfWorld{3, 8})) << "a program that starts its processes by itself";
  EXPECT_THAT(refusal(agents, 3, 6), HasSubstr("by Slurm it is rank 1 of 4"));
  EXPECT_THAT(refusal(agents, 0, 4), HasSubstr("by Slurm it is rank 1 of 4"));
}

TEST(FindRank, DoesNotListenToOtherLaunchersOfLaunchers) {
  const Variables mpi{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "1"}};
  EXPECT_THAT(refusal(joined(kTorchrun, mpi)), HasSubstr("by Open MPI it is rank 1 of 4"));
  EXPECT_EQ(found(joined(joined(kTorchrun, mpi), {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}})), (RankOfWorld{3, 8}));
  const Variables step{
      {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_NUM_NODES", "4"}};
  EXPECT_EQ(found(joined(joined(kTorchrun, step), {{"PMIX_RANK", "1"}})), (RankOfWorld{3, 8})) << "srun --mpi=pmix";
  EXPECT_EQ(found(joined(joined(kTorchrun, step), {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}})), (RankOfWorld{3, 8}))
      << "srun --mpi=pmi2";
  EXPECT_THAT(refusal(joined(joined(kTorchrun, step), {{"PMIX_RANK", "2"}})), HasSubstr("by PMIx it is rank 2"));
}

TEST(FindRank, DoesNotListenToSlurmOutsideOfAStep) {
  EXPECT_EQ(found({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "7"}}), (RankOfWorld{0, 1}));
}

TEST(JobName, IsThatOfTheLauncherOrOfTheParent) {
  const auto name = [](Variables variables) { return job_name(environment(std::move(variables))); };
  EXPECT_EQ(name({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}, {"RANK", "0"}}),
            name({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}, {"RANK", "1"}}));
  EXPECT_NE(name({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}), name({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "2"}}));
  EXPECT_NE(name({{"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "1"}}),
            name({{"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "2"}}));
  EXPECT_NE(name({{"PMIX_NAMESPACE", "1"}}), name({}));
  EXPECT_EQ(name({}), name({}));
}

TEST(FindRank, RefusesHalfAnAnswer) {
  EXPECT_THAT(refusal({{"RANK", "1"}}), AllOf(HasSubstr("RANK"), HasSubstr("WORLD_SIZE"), HasSubstr("torchrun")));
  EXPECT_THAT(refusal({{"PMIX_RANK", "1"}}), AllOf(HasSubstr("rank 1"), HasSubstr("how many")));
  EXPECT_THAT(refusal({}, {}, 2), AllOf(HasSubstr("one of 2"), HasSubstr("which one")));
}

TEST(FindRank, RefusesNumbersThatMakeNoSense) {
  EXPECT_THAT(refusal({{"RANK", "x"}, {"WORLD_SIZE", "2"}}), AllOf(HasSubstr("'x'"), HasSubstr("give rank and world")));
  EXPECT_EQ(found({{"RANK", "x"}}, 1, 2), (RankOfWorld{1, 2}));
  EXPECT_THAT(refusal({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}), HasSubstr("'-1'"));
  EXPECT_THAT(refusal({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), HasSubstr("rank 2 of 2"));
  EXPECT_THAT(refusal({}, 0, 0), HasSubstr("rank 0 of 0"));
}

}  // namespace
}  // namespace stoker
