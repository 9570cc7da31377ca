// The charts of the doctor's page, as data for a ReportPage.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "stoker/doctor/verdict/diagnosis.h"

namespace stoker {

struct DoctorChart {
  nlohmann::ordered_json data;
  std::string caption;
};

/// Where the GPUs' time goes, and where a core's goes with each sample.
DoctorChart time_chart(const Diagnosis& diagnosis);

/// What each resource could carry, with the demand as a line.
DoctorChart ladder_chart(const Diagnosis& diagnosis);

/// Throughput against cores, predicted and measured; the knee and today's cores are marked.
DoctorChart core_chart(const Diagnosis& diagnosis);

/// Transfer index by threads. Nothing without a device.
std::optional<DoctorChart> index_chart(const Diagnosis& diagnosis);

/// Throughput and efficiency against the GPUs of a node. Nothing if that is not known.
std::optional<DoctorChart> gpu_chart(const Diagnosis& diagnosis);

/// Latency against load, when the GPUs serve. Nothing if that is not known.
std::optional<DoctorChart> latency_chart(const Diagnosis& diagnosis);

/// What storage gave, cold and warm. Nothing if it was not measured.
std::optional<DoctorChart> storage_chart(const Diagnosis& diagnosis);

enum class Distribution : unsigned char { kBytes, kWidth, kHeight, kCost };
/// Nothing if it is not known, or if all samples are alike.
std::optional<DoctorChart> distribution_chart(const Diagnosis& diagnosis, Distribution of);

/// Runs, as predicted and as they were. Nothing if none was given.
std::optional<DoctorChart> run_chart(const Diagnosis& diagnosis);

}  // namespace stoker
