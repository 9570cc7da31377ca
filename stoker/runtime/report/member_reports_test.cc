#include "stoker/runtime/report/member_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// What a member says that has made some batches: how long it worked on them, and waited itself.
Metrics member_metrics(std::int64_t batches, std::int64_t reads_ms, std::int64_t workers_ms) {
  Metrics metrics{};
  metrics[Metric::kBatches] = batches;
  metrics[Metric::kSamples] = 8 * batches;
  metrics[stage_ns(StageSide::kCpu, Stage::kDecode)] = 70 * kMs * batches;
  metrics[Metric::kWorkerBusyNs] = 80 * kMs * batches;
  metrics[Metric::kWorkerIdleNs] = 20 * kMs * batches;
  metrics[Metric::kBytesFetched] = metrics[Metric::kDiskBytes] = 4096 * batches;
  metrics[Metric::kDiskReads] = batches;
  metrics[Metric::kConsumerWaitReadsNs] = reads_ms * kMs;
  metrics[Metric::kConsumerWaitWorkersNs] = workers_ms * kMs;
  metrics[Metric::kConsumerWaitNs] = (reads_ms + workers_ms) * kMs;
  metrics[Metric::kBatchBytes] = 1000;
  metrics[Metric::kIoDepth] = 4 + batches;
  metrics[Metric::kStoreFirstByteP50Ns] = 10 * batches;
  return metrics;
}

TEST(MemberReports, CountAllMembersAndThoseThatHaveLeft) {
  MemberReports reports;
  reports.update(0, member_metrics(1, 0, 0));
  reports.update(1, member_metrics(2, 0, 0));
  reports.update(1, member_metrics(3, 0, 0));
  Metrics all = reports.metrics();
  EXPECT_EQ(all[Metric::kBytesFetched], 4 * 4096) << "a member's newest";
  EXPECT_EQ(all[Metric::kBatchBytes], 2000);
  EXPECT_EQ(all[Metric::kIoDepth], 7) << "the largest knob";
  EXPECT_EQ(all[Metric::kStoreFirstByteP50Ns], 30) << "the largest quantile";
  EXPECT_EQ(all[Metric::kBatches], 0) << "none has been delivered";
  reports.leave(1);
  reports.leave(1);
  all = reports.metrics();
  EXPECT_EQ(all[Metric::kBytesFetched], 4 * 4096) << "what it did stays done";
  EXPECT_EQ(all[Metric::kBatchBytes], 1000) << "what it held is free";
  reports.update(2, member_metrics(1, 0, 0));
  EXPECT_EQ(reports.metrics()[Metric::kBytesFetched], 5 * 4096);
}

TEST(MemberReports, DivideAWaitAsItsMakersTime) {
  MemberReports reports;
  reports.update(0, member_metrics(1, 30, 10));
  reports.deliver({.member = 0, .samples = 8, .wait_ns = 50 * kMs, .period_ns = 100 * kMs});
  Metrics all = reports.metrics();
  EXPECT_EQ(all[Metric::kConsumerWaitNs], 50 * kMs);
  EXPECT_EQ(all[Metric::kConsumerWaitDeviceNs], 30 * kMs);
  EXPECT_EQ(all[Metric::kConsumerWaitReadsNs], 15 * kMs);
  EXPECT_EQ(all[Metric::kConsumerWaitWorkersNs], 5 * kMs);
  // What the maker waited for this batch counts, and not for those before.
  reports.update(0, member_metrics(2, 30, 20));
  reports.deliver({.member = 0, .samples = 8, .wait_ns = 8 * kMs, .period_ns = 20 * kMs});
  reports.deliver({.member = 0, .samples = 8, .wait_ns = 7 * kMs, .period_ns = 5 * kMs});
  reports.deliver({.member = 0, .samples = 8, .wait_ns = 6 * kMs});
  reports.leave(0);
  reports.deliver({.member = 0, .samples = 8, .wait_ns = 9 * kMs, .period_ns = 4 * kMs});
  all = reports.metrics();
  EXPECT_EQ(all[Metric::kConsumerWaitDeviceNs], 34 * kMs);
  EXPECT_EQ(all[Metric::kConsumerWaitReadsNs], 15 * kMs);
  EXPECT_EQ(all[Metric::kConsumerWaitWorkersNs], 31 * kMs);
  EXPECT_EQ(all[Metric::kConsumerWaitNs], 80 * kMs);
  EXPECT_EQ(all[Metric::kSamples], 40);
}

LoaderReport report_of_epoch(std::int64_t reads_ms, std::int64_t workers_ms) {
  MemberReports reports;
  reports.begin_epoch(3);
  for (std::int64_t batch = 1; batch <= 9; ++batch) {
    const std::int64_t its = (batch + 1) / 2;
    reports.update(batch % 2, member_metrics(its, its * reads_ms, its * workers_ms));
    reports.deliver({.member = batch % 2, .samples = 8, .wait_ns = 50 * kMs, .period_ns = 100 * kMs});
    reports.step(50 * kMs);
  }
  EXPECT_EQ(reports.of(3).steps, 9);
  const LoaderReport report = reports.end_epoch().value();
  EXPECT_EQ(report.epoch, 3);
  EXPECT_EQ(report.samples, 72);
  EXPECT_DOUBLE_EQ(report.wait_s, 0.4) << "without the first batch's";
  EXPECT_EQ(reports.since_beginning().verdict(), report.verdict());
  EXPECT_FALSE(reports.end_epoch());
  EXPECT_EQ(reports.metrics()[Metric::kEpochs], 1);
  return report;
}

TEST(MemberReports, TellWhatLimits) {
  using ::testing::HasSubstr;
  EXPECT_THAT(report_of_epoch(20, 70).verdict(), HasSubstr("CPU decode is the limit"));
  EXPECT_THAT(report_of_epoch(70, 20).verdict(), HasSubstr("storage requests are the limit"));
  EXPECT_THAT(report_of_epoch(5, 15).verdict(), HasSubstr("the copy is the limit"));
  EXPECT_EQ(error_of([] { MemberReports().of(0); }).kind(), ErrorKind::kUsage);
}

}  // namespace
}  // namespace stoker
