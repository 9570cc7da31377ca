#include "stoker/device/accelerator_profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string_view> workload_names() {
  std::vector<std::string_view> names;
  for (const TrainingWorkload* workload : training_workloads()) names.push_back(workload->name);
  return names;
}

TEST(AcceleratorProfiles, AreNamedAfterTheirWorkloadAndGpuOnceEach) {
  std::set<std::string_view> names;
  for (const AcceleratorProfile& profile : accelerator_profiles()) {
    EXPECT_TRUE(names.insert(profile.name).second) << profile.name;
    EXPECT_TRUE(profile.name.starts_with("mlperf:" + std::string(profile.workload->name) + "/")) << profile.name;
    EXPECT_GT(profile.batch, 0) << profile.name;
    EXPECT_GT(profile.seconds_per_step, 0) << profile.name;
  }
  EXPECT_THAT(workload_names(), ElementsAre("resnet50", "unet3d", "cosmoflow", "retinanet", "dlrm", "flux", "bert"));
}

TEST(AcceleratorProfiles, NeedTheRatesThatMlperfStoragePublishes) {
  // Samples and bytes per second of one H100.
  const auto rate = [](std::string_view name) {
    const AcceleratorProfile& profile = *find_accelerator_profile(name);
    return profile.batch / profile.seconds_per_step;
  };
  const auto megabytes = [&](std::string_view name) {
    return rate(name) * find_accelerator_profile(name)->workload->record_bytes * 1e-6;
  };
  EXPECT_NEAR(rate("mlperf:resnet50/a100"), 920, 1);
  EXPECT_NEAR(rate("mlperf:resnet50/h100"), 1786, 1);
  EXPECT_NEAR(megabytes("mlperf:resnet50/h100"), 205, 1);
  EXPECT_NEAR(megabytes("mlperf:unet3d/h100"), 3177, 10);
  EXPECT_NEAR(megabytes("mlperf:cosmoflow/h100"), 808, 1);
}

TEST(AcceleratorProfiles, AreFoundInEitherCase) {
  ASSERT_NE(find_accelerator_profile("mlperf:UNet3D/H100"), nullptr);
  EXPECT_EQ(find_accelerator_profile("mlperf:UNet3D/H100")->name, "mlperf:unet3d/h100");
  EXPECT_EQ(find_accelerator_profile("0.25"), nullptr);
  EXPECT_EQ(find_accelerator_profile("mlperf:unet3d"), nullptr);
}

TEST(TrainingWorkload, IsFoundByNameOrSuggested) {
  EXPECT_EQ(find_training_workload("CosmoFlow").files, 524'288);
  const Error error = error_of([] { find_training_workload("cosmoflo"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), HasSubstr("did you mean 'cosmoflow'?"));
}

}  // namespace
}  // namespace stoker
