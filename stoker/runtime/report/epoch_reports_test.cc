#include "stoker/runtime/report/epoch_reports.h"

#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

/// A loader whose consumer takes a second per step and waits as long as it is told.
struct Imagined {
  Metrics now{};
  EpochReports reports{[this] { return now; }};

  void deliver(std::int64_t wait_s) {
    now.at_ns += (wait_s + 1) * 1'000'000'000;
    now[Metric::kSamples] += 8;
    now[Metric::kBatches] += 1;
    now[Metric::kConsumerWaitNs] += wait_s * 1'000'000'000;
    now[Metric::kConsumerWaitReadsNs] += wait_s * 1'000'000'000;
  }
  void step() {
    now[Metric::kConsumerSteps] += 1;
    now[Metric::kConsumerStepNs] += 1'000'000'000;
  }
};

TEST(EpochReports, AreOfEachEpochAndOfAll) {
  Imagined loader;
  loader.reports.begin_epoch(0);
  loader.deliver(50);
  loader.reports.first_batch();
  loader.step();
  loader.deliver(1);
  loader.step();
  const std::optional<LoaderReport> first = loader.reports.end_epoch();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->epoch, 0);
  EXPECT_EQ(first->samples, 16) << "those of the first batch, too";
  EXPECT_DOUBLE_EQ(first->wait_s, 1) << "but not the wait for it";
  EXPECT_DOUBLE_EQ(first->seconds, 3);
  EXPECT_FALSE(loader.reports.end_epoch()) << "none runs";

  loader.reports.begin_epoch(4);
  loader.deliver(3);
  loader.step();
  EXPECT_DOUBLE_EQ(loader.reports.of(4).wait_s, 3) << "as far as it has come";
  EXPECT_EQ(loader.reports.of(0).samples, 16);
  EXPECT_EQ(loader.reports.since_beginning().samples, 24);
  EXPECT_DOUBLE_EQ(loader.reports.since_beginning().wait_s, 4);
  EXPECT_FALSE(loader.reports.since_beginning().epoch);

  loader.reports.begin_epoch(4);
  loader.deliver(2);
  EXPECT_DOUBLE_EQ(loader.reports.of(4).wait_s, 2) << "it runs anew";
  loader.reports.end_epoch();
  EXPECT_DOUBLE_EQ(loader.reports.of(4).wait_s, 2);
}

TEST(EpochReports, CountTheFirstBatchWhoseStepTheyCount) {
  Imagined loader;
  const auto deliver = [&](std::int64_t samples) {
    loader.deliver(0);
    loader.now[Metric::kSamples] += samples - 8;
  };
  loader.reports.begin_epoch(0);
  deliver(100);
  loader.reports.first_batch();
  loader.step();
  EXPECT_DOUBLE_EQ(loader.reports.of(0).samples_per_s(), 100) << "an epoch of one batch has a rate, too";
  deliver(20);
  loader.step();
  for (const LoaderReport& report : {loader.reports.of(0), loader.reports.since_beginning()}) {
    EXPECT_EQ(report.samples, 120);
    EXPECT_DOUBLE_EQ(report.seconds, 2);
    EXPECT_DOUBLE_EQ(report.samples_per_s(), 60);
    EXPECT_DOUBLE_EQ(report.samples_per_s_needed().value(), 60);
  }
}

TEST(EpochReports, OfOtherEpochsAreRefused) {
  Imagined loader;
  EXPECT_EQ(error_of([&] { loader.reports.of(0); }).kind(), ErrorKind::kUsage);
  for (std::int64_t epoch = 0; epoch <= static_cast<std::int64_t>(EpochReports::kKept); ++epoch) {
    loader.reports.begin_epoch(epoch);
    loader.reports.end_epoch();
  }
  EXPECT_EQ(loader.reports.of(1).epoch, 1);
  const Error error = error_of([&] { loader.reports.of(0); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_NE(error.message().find("the last is 128"), std::string::npos) << error.message();
}

TEST(EpochReports, HaveTheHeadspaceThatWasMeasuredLast) {
  Imagined loader;
  loader.reports.set_headspace({.alone = summary_of({1, 1, 1}), .with_loading_s = 3});
  EXPECT_DOUBLE_EQ(loader.reports.since_beginning().headspace->loading_s(), 2);
  EXPECT_NEAR(loader.reports.since_beginning().headspace->share(), 2 / 3.0, 1e-12);
}

}  // namespace
}  // namespace stoker
