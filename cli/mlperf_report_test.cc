#include "cli/mlperf_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kGigabyte = 1'000'000'000;

/// A valid one: of all of UNet3D, on a host of 4 GB.
MlperfReport whole_unet3d() {
  MlperfReport report{.profile = find_accelerator_profile("mlperf:unet3d/h100"), .batch = 7, .accelerators = 2};
  report.samples = 7000;
  report.files = 7000;
  report.steps_per_epoch = 500;
  report.data_bytes = 7000 * 146'600'628ull;
  report.memory_bytes = 4 * kGigabyte;
  report.cores = 8;
  report.epochs = {{500, 95.0, 40}, {500, 91.0, 44}, {1, std::nullopt, 42}};
  return report;
}

std::vector<std::string_view> broken(const MlperfReport& report) {
  std::vector<std::string_view> names;
  for (const MlperfRule& rule : report.rules()) {
    if (!rule.holds) names.push_back(rule.name);
  }
  return names;
}

TEST(MlperfReport, IsValidOnlyIfEachRuleHolds) {
  EXPECT_THAT(broken(whole_unet3d()), ElementsAre());
  MlperfReport small = whole_unet3d();
  small.memory_bytes = small.data_bytes / 5 + 1;
  EXPECT_THAT(broken(small), ElementsAre("data"));
  MlperfReport brief = whole_unet3d();
  brief.steps_per_epoch = 499;
  EXPECT_THAT(broken(brief), ElementsAre("steps"));
  MlperfReport batch = whole_unet3d();
  batch.batch = 8;
  EXPECT_THAT(broken(batch), ElementsAre("batch"));
  MlperfReport records = whole_unet3d();
  records.samples = 6000;
  EXPECT_THAT(broken(records), ElementsAre("records"));
  EXPECT_THAT(records.text(), HasSubstr("Not a valid result of MLPerf Storage: a sample has 171 MB on average"));
  EXPECT_THAT(whole_unet3d().text(), Not(HasSubstr("Not a valid result")));
}

TEST(MlperfReport, ComparesTheMeanOfItsEpochsWithWhatIsWanted) {
  MlperfReport report = whole_unet3d();
  EXPECT_DOUBLE_EQ(report.utilisation_mean_percent(), 93) << "the epoch of one step says nothing";
  EXPECT_TRUE(report.meets_expectation());
  EXPECT_THAT(report.text(), HasSubstr("AU 93.0% of mlperf:unet3d/h100 with 2 accelerators in 1,001 steps; 90% are "
                                       "wanted: reached."));
  report.epochs = {{2, 89.9, 40}};
  EXPECT_FALSE(report.meets_expectation());
  report.epochs.clear();
  EXPECT_EQ(report.utilisation_mean_percent(), 0);
}

TEST(MlperfReport, SummarizesByTheKeysOfDlio) {
  const nlohmann::ordered_json summary = whole_unet3d().summary();
  std::vector<std::string> keys, metrics;
  for (const auto& [key, value] : summary.items()) keys.push_back(key);
  for (const auto& [key, value] : summary["metric"].items()) metrics.push_back(key);
  EXPECT_THAT(keys, ElementsAre("start", "num_accelerators", "num_hosts", "hostname", "metric", "num_files_train",
                                "num_files_eval", "num_samples_per_file", "host_cpu_count", "host_processor_name",
                                "potential_caching", "host_cpuinfo", "host_meminfo", "host_memory_GB",
                                "data_size_per_host_GB", "epochs", "end", "stoker"));
  EXPECT_THAT(metrics,
              ElementsAre("train_au_percentage", "train_au_mean_percentage", "train_au_meet_expectation",
                          "train_au_stdev_percentage", "train_throughput_samples_per_second",
                          "train_throughput_mean_samples_per_second", "train_throughput_stdev_samples_per_second",
                          "train_io_mean_MB_per_second", "train_io_stdev_MB_per_second"));
  const auto& metric = summary["metric"];
  EXPECT_EQ(metric["train_au_meet_expectation"], "success");
  EXPECT_DOUBLE_EQ(metric["train_au_stdev_percentage"], 2);
  EXPECT_DOUBLE_EQ(metric["train_throughput_mean_samples_per_second"], 42);
  EXPECT_DOUBLE_EQ(metric["train_io_mean_MB_per_second"], 42 * 146'600'628.0 / (1 << 20));
  EXPECT_EQ(summary["num_accelerators"], 2);
  EXPECT_EQ(summary["num_samples_per_file"], 1);
  EXPECT_EQ(summary["epochs"], 3);
  EXPECT_THAT(summary["potential_caching"], ElementsAre(0));
  EXPECT_TRUE(summary["host_meminfo"].contains("MemTotal"));
}

TEST(MlperfReport, TellsTheTimeAsDlioDoes) {
  EXPECT_THAT(time_of_day(), testing::MatchesRegex(R"(....-..-..T..:..:..\.......)"));
}

}  // namespace
}  // namespace stoker
