#include "stoker/device/accelerator_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"

namespace stoker {
namespace {

// MLPerf Storage's workloads: the files of its DLIO. BERT's has no least utilisation; DLIO's default counts there.
constexpr TrainingWorkload kResnet50{"resnet50", "tfrecord", 1024, 1251, 114660.07, 0, 0.90};
constexpr TrainingWorkload kUnet3d{"unet3d", "npz", 168, 1, 146'600'628, 68'341'808, 0.90};
constexpr TrainingWorkload kCosmoflow{"cosmoflow", "tfrecord", 524'288, 1, 2'828'486, 71'311, 0.70};
constexpr TrainingWorkload kRetinanet{"retinanet", "jpeg", 1'170'301, 1, 322'957, 0, 0.85};
constexpr TrainingWorkload kDlrm{"dlrm", "parquet", 1024, 4'718'592, 761, 0, 0.70};
constexpr TrainingWorkload kFlux{"flux", "parquet", 4296, 288, 2'164'832, 0, 0.90};
constexpr TrainingWorkload kBert{"bert", "tfrecord", 500, 313'532, 2500, 0, 0.90};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace

const std::vector<AcceleratorProfile>& accelerator_profiles() {
  static const std::vector<AcceleratorProfile> profiles = {
      {"mlperf:resnet50/v100", 64, 0.195, &kResnet50},
      {"mlperf:resnet50/a100", 400, 0.435, &kResnet50},
      {"mlperf:resnet50/h100", 400, 0.224, &kResnet50},
      {"mlperf:unet3d/v100", 4, 1.3604, &kUnet3d},
      {"mlperf:unet3d/a100", 7, 0.636, &kUnet3d},
      {"mlperf:unet3d/h100", 7, 0.323, &kUnet3d},
      {"mlperf:unet3d/b200", 7, 0.162, &kUnet3d},
      {"mlperf:cosmoflow/v100", 1, 0.00936, &kCosmoflow},
      {"mlperf:cosmoflow/a100", 1, 0.00551, &kCosmoflow},
      {"mlperf:cosmoflow/h100", 1, 0.00350, &kCosmoflow},
      {"mlperf:retinanet/b200", 24, 0.04755, &kRetinanet},
      {"mlperf:dlrm/b200", 16'384, 0.000375, &kDlrm},
      {"mlperf:flux/b200", 48, 1.35, &kFlux},
      {"mlperf:bert/v100", 48, 0.968, &kBert},
  };
  return profiles;
}

const AcceleratorProfile* find_accelerator_profile(std::string_view name) {
  const std::string wanted = in_lower_case(name);
  for (const AcceleratorProfile& profile : accelerator_profiles()) {
    if (profile.name == wanted) return &profile;
  }
  return nullptr;
}

std::vector<const TrainingWorkload*> training_workloads() {
  std::vector<const TrainingWorkload*> workloads;
  for (const AcceleratorProfile& profile : accelerator_profiles()) {
    if (workloads.empty() || workloads.back() != profile.workload) workloads.push_back(profile.workload);
  }
  return workloads;
}

const TrainingWorkload& find_training_workload(std::string_view name) {
  std::vector<std::string> names;
  for (const TrainingWorkload* workload : training_workloads()) {
    if (workload->name == in_lower_case(name)) return *workload;
    names.emplace_back(workload->name);
  }
  fail(ErrorKind::kUsage, "there is no workload '{}'{}; Stoker knows {}", name, did_you_mean(name, names),
       fmt::join(names, ", "));
}

}  // namespace stoker
