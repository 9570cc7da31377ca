#include "stoker/runtime/report/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stoker/page/xml_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Metrics at_second(double second) {
  Metrics metrics;
  const auto ns = static_cast<std::int64_t>(second * 1e9);
  metrics.at_ns = ns;
  metrics[Metric::kSamples] = ns / 10'000'000;  // 100 a second
  metrics[Metric::kBatches] = metrics[Metric::kConsumerSteps] = ns / 100'000'000;
  metrics[Metric::kConsumerStepNs] = ns / 4;
  metrics[Metric::kConsumerWaitNs] = metrics[Metric::kConsumerWaitWorkersNs] = 3 * (ns / 4);
  metrics[Metric::kWorkerBusyNs] = 2 * ns;
  metrics[Metric::kWorkerIdleNs] = 2 * ns;
  metrics[stage_ns(StageSide::kCpu, Stage::kDecode)] = ns;
  metrics[Metric::kThreads] = 4;
  return metrics;
}

TEST(RecentReadings, AreThoseOfTheLastSeconds) {
  RecentReadings readings(at_second(1));
  EXPECT_EQ(readings.begin().at_ns, readings.end().at_ns);
  for (int i = 1; i <= 100; ++i) readings.add(at_second(1 + i));
  EXPECT_EQ(readings.end().at_ns, at_second(101).at_ns);
  EXPECT_EQ(readings.begin().at_ns, at_second(96).at_ns);
}

TEST(RecentReadings, OfSeveralReadersGrowNoFaster) {
  RecentReadings readings(at_second(0));
  for (int i = 1; i <= 10'000; ++i) readings.add(at_second(i * 0.001));
  EXPECT_EQ(readings.end().at_ns, at_second(10).at_ns);
  EXPECT_GE(readings.begin().at_ns, at_second(5).at_ns);
  EXPECT_LE(readings.begin().at_ns, at_second(5.5).at_ns);
}

TEST(Dashboard, HasTheFiguresOfTheLastSeconds) {
  RecentReadings readings(at_second(0));
  for (int i = 1; i <= 8; ++i) readings.add(at_second(i));
  const nlohmann::json json = dashboard_json("train", 2, readings);
  EXPECT_EQ(json["name"], "train");
  EXPECT_EQ(json["samples"], 800);
  EXPECT_DOUBLE_EQ(json["over_s"], 5);
  EXPECT_DOUBLE_EQ(json["report"]["samples_per_s"], 100);
  EXPECT_DOUBLE_EQ(json["report"]["gpu_idle"], 0.75);
  EXPECT_DOUBLE_EQ(json["workers_busy"], 2);
  EXPECT_EQ(json["stages"][0]["name"], "decode");
  EXPECT_DOUBLE_EQ(json["stages"][0]["share"], 0.25);
  EXPECT_EQ(json["knobs"]["threads"], 4);
}

TEST(Dashboard, SaysHowLongItWasNotAsked) {
  RecentReadings readings(at_second(0));
  readings.add(at_second(3600));
  EXPECT_DOUBLE_EQ(dashboard_json("train", 0, readings)["over_s"], 3600);
  readings.add(at_second(3602));
  EXPECT_DOUBLE_EQ(dashboard_json("train", 0, readings)["over_s"], 2);
  EXPECT_THAT(dashboard_html(), HasSubstr("loader.over_s"));
}

TEST(Dashboard, IsWellFormedAndNeedsNothingElse) {
  const std::string page = dashboard_html();
  EXPECT_EQ(xml_fault(page), "");
  EXPECT_THAT(page, HasSubstr("fetch('dashboard.json'"));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
}

}  // namespace
}  // namespace stoker
