#include "stoker/runtime/report/loader_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

namespace stoker {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kMs = 1'000'000;
constexpr Metric kDecodeNs = stage_ns(StageSide::kCpu, Stage::kDecode);
constexpr Metric kPixelsNs = stage_ns(StageSide::kCpu, Stage::kGeometry, Stage::kColor);

using Values = std::initializer_list<std::pair<Metric, std::int64_t>>;

Metrics reading(std::int64_t at_ns, Values values) {
  Metrics metrics;
  metrics.at_ns = at_ns;
  for (const auto& [metric, value] : values) metrics[metric] = value;
  return metrics;
}

/// Ten steps of 60 ms with 100 samples each, and waits of `wait_ms` before each; and what else happened meanwhile.
LoaderReport ten_steps(std::int64_t wait_ms, Values values) {
  Metrics end = reading((600 + 10 * wait_ms) * kMs, values);
  end[Metric::kSamples] = 1000;
  end[Metric::kBatches] = end[Metric::kConsumerSteps] = 10;
  end[Metric::kConsumerStepNs] = 600 * kMs;
  end[Metric::kConsumerWaitNs] = 10 * wait_ms * kMs;
  return loader_report(Metrics(), end);
}

double share_of(const LoaderReport& report, WaitCause cause) {
  return report.wait_shares[static_cast<std::size_t>(cause)];
}

void expect_whole(const LoaderReport& report) {
  EXPECT_THAT(std::accumulate(report.wait_shares.begin(), report.wait_shares.end(), 0.0), DoubleNear(1, 1e-9));
}

TEST(LoaderReport, OfWorkersThatAreBusyNamesWhatTheyDoMost) {
  const LoaderReport report = ten_steps(40, {{Metric::kConsumerWaitWorkersNs, 400 * kMs},
                                             {kDecodeNs, 1200 * kMs},
                                             {kPixelsNs, 400 * kMs},
                                             {Metric::kWorkerBusyNs, 2000 * kMs}});
  EXPECT_DOUBLE_EQ(report.gpu_idle(), 0.4);
  EXPECT_DOUBLE_EQ(report.samples_per_s(), 1000);
  EXPECT_DOUBLE_EQ(*report.samples_per_s_needed(), 1000 / 0.6);
  EXPECT_DOUBLE_EQ(share_of(report, WaitCause::kCpuDecode), 0.75);
  EXPECT_DOUBLE_EQ(share_of(report, WaitCause::kCpuTransform), 0.25);
  expect_whole(report);
  EXPECT_EQ(report.verdict(), "GPU idle 40%: CPU decode is the limit; next limit the step at 1.7x");
}

TEST(LoaderReport, OfHeavyOperatorsNamesTransform) {
  const LoaderReport report =
      ten_steps(40, {{Metric::kConsumerWaitWorkersNs, 400 * kMs}, {kDecodeNs, 100 * kMs}, {kPixelsNs, 300 * kMs}});
  EXPECT_EQ(report.limits.front().limiter, Limiter::kCpuTransform);
}

TEST(LoaderReport, OfReadsTellsTheirNumberFromTheirBytes) {
  const auto of_reads = [](std::int64_t bytes_each) {
    return ten_steps(40, {{Metric::kConsumerWaitReadsNs, 300 * kMs},
                          {Metric::kConsumerWaitWorkersNs, 100 * kMs},
                          {kDecodeNs, 100 * kMs},
                          {Metric::kWorkerBusyNs, 500 * kMs},
                          {Metric::kWorkerIdleNs, 500 * kMs},
                          {Metric::kDiskReads, 1000},
                          {Metric::kReads, 1000},
                          {Metric::kDiskBytes, 1000 * bytes_each},
                          {Metric::kBytesFetched, 1000 * bytes_each}});
  };
  const LoaderReport small = of_reads(20'000), large = of_reads(1'000'000);
  EXPECT_EQ(small.limits.front().limiter, Limiter::kStorageRequests);
  EXPECT_THAT(small.verdict(), StartsWith("GPU idle 40%: storage requests are the limit; next limit the step at 1.7x"));
  EXPECT_EQ(large.limits.front().limiter, Limiter::kStorageBandwidth);
  EXPECT_DOUBLE_EQ(share_of(large, WaitCause::kStorage), 0.75);
  expect_whole(large);
  ASSERT_EQ(large.limits.size(), 3u);
  EXPECT_EQ(large.limits[2].limiter, Limiter::kCpuDecode);
  EXPECT_DOUBLE_EQ(large.limits[2].samples_per_s, 2000) << "workers were busy half of the time";
}

TEST(LoaderReport, OfAStoreTellsLateAnswersFromASlowLink) {
  const auto of_store = [](std::int64_t first_byte_ms) {
    return ten_steps(40, {{Metric::kConsumerWaitReadsNs, 400 * kMs},
                          {Metric::kReads, 100},
                          {Metric::kReadNs, 100 * 50 * kMs},
                          {Metric::kBytesFetched, 100'000'000},
                          {Metric::kStoreFirstByteP50Ns, first_byte_ms * kMs}});
  };
  EXPECT_EQ(of_store(40).limits.front().limiter, Limiter::kStorageRequests);
  EXPECT_EQ(of_store(5).limits.front().limiter, Limiter::kNetwork);
  EXPECT_DOUBLE_EQ(share_of(of_store(5), WaitCause::kNetwork), 1);
}

TEST(LoaderReport, OfADeviceTellsCopiesFromKernels) {
  const auto of_device = [](std::int64_t kernels_ms) {
    return ten_steps(40, {{Metric::kConsumerWaitDeviceNs, 400 * kMs}, {Metric::kDeviceNs, kernels_ms * kMs}});
  };
  EXPECT_EQ(of_device(200).limits.front().limiter, Limiter::kCopy);
  EXPECT_DOUBLE_EQ(share_of(of_device(200), WaitCause::kDevice), 0.2);
  EXPECT_EQ(of_device(900).limits.front().limiter, Limiter::kStep) << "the device has too much to do";
  expect_whole(of_device(900));
}

TEST(LoaderReport, OfATrainingThatIsFedNamesTheStep) {
  const LoaderReport report = ten_steps(1, {{Metric::kConsumerWaitWorkersNs, 10 * kMs},
                                            {kDecodeNs, kMs},
                                            {Metric::kWorkerBusyNs, 300 * kMs},
                                            {Metric::kWorkerIdleNs, 900 * kMs}});
  EXPECT_EQ(report.verdict(), "Fed: the step is the limit; next limit CPU decode at 4.0x");
  EXPECT_TRUE(report.json()["fed"]);
  EXPECT_EQ(report.json()["bottleneck"], "step");
}

TEST(LoaderReport, OfAConsumerThatOnlyTakesHasNoStep) {
  Metrics end = reading(1000 * kMs, {{Metric::kSamples, 500},
                                     {Metric::kBatches, 5},
                                     {Metric::kConsumerSteps, 5},
                                     {Metric::kConsumerStepNs, kMs},
                                     {Metric::kConsumerWaitNs, 999 * kMs},
                                     {Metric::kConsumerWaitWorkersNs, 999 * kMs},
                                     {kPixelsNs, 900 * kMs}});
  const LoaderReport report = loader_report(Metrics(), end);
  EXPECT_EQ(report.verdict(), "There is no step to feed: CPU transform is the limit");
  EXPECT_TRUE(report.json()["samples_per_s_needed"].is_null());
}

TEST(LoaderReport, OfStepsThatAreTooShortForTrainingHasNoStep) {
  const auto verdict = [](std::int64_t step_ns) {
    const Metrics end = reading(4 * step_ns, {{Metric::kSamples, 256},
                                              {Metric::kBatches, 1},
                                              {Metric::kConsumerSteps, 1},
                                              {Metric::kConsumerStepNs, step_ns},
                                              {Metric::kConsumerWaitNs, 3 * step_ns},
                                              {Metric::kConsumerWaitWorkersNs, 3 * step_ns},
                                              {kPixelsNs, 3 * step_ns}});
    return loader_report(Metrics(), end).verdict();
  };
  EXPECT_EQ(verdict(4'000), "There is no step to feed: CPU transform is the limit");
  EXPECT_EQ(verdict(4 * kMs).substr(0, 8), "GPU idle");
}

TEST(LoaderReport, BeforeTheFirstStepSaysSo) {
  const LoaderReport report = loader_report(Metrics(), Metrics());
  EXPECT_EQ(report.verdict(), "No step has ended yet");
  EXPECT_TRUE(report.json()["bottleneck"].is_null());
  EXPECT_FALSE(report.json()["fed"]);
  EXPECT_THAT(report.text(), HasSubstr("0 samples"));
}

TEST(LoaderReport, TextHasRateWaitAndHeadspace) {
  LoaderReport report = ten_steps(
      40,
      {{Metric::kConsumerWaitWorkersNs, 300 * kMs}, {Metric::kConsumerWaitReadsNs, 100 * kMs}, {kDecodeNs, 900 * kMs}});
  report.epoch = 3;
  report.headspace = Headspace{.alone = summary_of({0.05, 0.05, 0.05, 0.05}), .with_loading_s = 0.1};
  EXPECT_EQ(report.text(),
            "GPU idle 40%: CPU decode is the limit; next limit the step at 1.7x.\n"
            "1,000 samples in 1.0 s: 1,000 samples/s of the 1,667 that steps of 60 ms could take.\n"
            "Waited 400 ms: CPU decode 75%, storage 25%.\n"
            "With its batch ready, a step took 50 ms (half of 4 steps: 50 ms to 50 ms); with loading, 100 ms: "
            "loading costs 50% of a step.\n");
  EXPECT_EQ(report.line(),
            "epoch 3: 1,000 samples, 1,000 samples/s, 60 ms per step. GPU idle 40%: CPU decode is the limit; next "
            "limit the step at 1.7x.");
  EXPECT_DOUBLE_EQ(report.json()["headspace"]["loading_s"], 0.05);
}

}  // namespace
}  // namespace stoker
