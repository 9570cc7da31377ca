#include "stoker/runtime/report/prometheus_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

namespace stoker {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;
using ::testing::HasSubstr;

std::string name_of(Metric metric) { return prometheus_name(metric_table()[static_cast<std::size_t>(metric)]); }

LoaderReading reading(const std::string& loader, int rank) {
  LoaderReading made{loader, rank, {}};
  made.metrics[Metric::kSamples] = 1000 + rank;
  made.metrics[stage_ns(StageSide::kCpu, Stage::kDecode)] = 1'500'000'000;
  made.metrics[Metric::kBytesRead] = 77;
  made.metrics[Metric::kThreads] = 3;
  made.metrics[Metric::kStoreFirstByteP50Ns] = 250'000'000;
  made.metrics[Metric::kStoreFirstByteP99Ns] = 1'500'000'000;
  made.metrics.workers = {{.busy_ns = 2'000'000'000, .idle_ns = 0}, {.busy_ns = 500'000'000, .idle_ns = 1}};
  return made;
}

std::string text_of(const std::vector<LoaderReading>& readings) {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, prometheus_families(readings));
  return text.str();
}

TEST(PrometheusMetrics, AreNamedByTheConventions) {
  EXPECT_EQ(name_of(Metric::kSamples), "stoker_samples_total");
  EXPECT_EQ(name_of(stage_ns(StageSide::kCpu, Stage::kDecode)), "stoker_stage_busy_seconds_total");
  EXPECT_EQ(name_of(Metric::kBytesRead), "stoker_read_bytes_total");
  EXPECT_EQ(name_of(Metric::kReadNs), "stoker_read_seconds_total");
  EXPECT_EQ(name_of(Metric::kFirstBatchNs), "stoker_first_batch_seconds");
  EXPECT_EQ(name_of(Metric::kBatchBytes), "stoker_batch_bytes");
  EXPECT_EQ(name_of(Metric::kIoDepth), "stoker_knob");
  EXPECT_EQ(name_of(Metric::kStoreBytes), "stoker_store_bytes_total");
  EXPECT_EQ(name_of(Metric::kStoreNs), "stoker_store_seconds_total");
  EXPECT_EQ(name_of(Metric::kStoreFirstByteP99Ns), "stoker_store_first_byte_seconds");
}

TEST(PrometheusMetrics, HaveNamesThatSayWhatTheyAre) {
  const std::regex valid("stoker_[a-z]+(_[a-z]+)*");
  for (const MetricFamily& family : prometheus_families({})) {
    EXPECT_TRUE(std::regex_match(family.name, valid) && !family.help.empty()) << family.name;
    EXPECT_EQ(family.name.ends_with("_total"), family.type == MetricType::Counter) << family.name;
    EXPECT_THAT(family.name, testing::Not(HasSubstr("_ns")));
  }
}

TEST(PrometheusMetrics, AreInSecondsAndHaveLabels) {
  const std::string text = text_of({reading("train", 2)});
  EXPECT_THAT(text, HasSubstr("stoker_samples_total{loader=\"train\",rank=\"2\"} 1002\n"));
  EXPECT_THAT(text, HasSubstr("{loader=\"train\",rank=\"2\",stage=\"decode\",side=\"cpu\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("stoker_read_bytes_total{loader=\"train\",rank=\"2\"} 77\n"));
  const std::string first_byte = "stoker_store_first_byte_seconds{loader=\"train\",rank=\"2\",quantile=";
  EXPECT_THAT(text, HasSubstr(first_byte + "\"0.5\"} 0.25\n"));
  EXPECT_THAT(text, HasSubstr(first_byte + "\"0.99\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("stoker_knob{loader=\"train\",rank=\"2\",name=\"threads\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("stoker_worker_busy_seconds_total{loader=\"train\",rank=\"2\",worker=\"1\"} 0.5\n"));
  EXPECT_THAT(text, HasSubstr("# HELP stoker_samples_total samples delivered, padding not counted\n"
                              "# TYPE stoker_samples_total counter\n"));
}

TEST(PrometheusMetrics, HaveEachFamilyAndEachSeriesOnce) {
  const std::vector<LoaderReading> readings = {reading("a", 0), reading("b", 0)};
  std::set<std::string> names;
  for (const MetricFamily& family : prometheus_families(readings)) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    EXPECT_GE(family.metric.size(), readings.size());
    std::set<std::vector<prometheus::ClientMetric::Label>> series;
    for (const auto& one : family.metric) EXPECT_TRUE(series.insert(one.label).second) << family.name;
  }
}

TEST(PrometheusMetrics, HaveWhateverTheTableHas) {
  const std::vector<LoaderReading> readings = {reading("a", 0)};
  std::size_t series = 0;
  for (const MetricFamily& family : prometheus_families(readings)) series += family.metric.size();
  EXPECT_EQ(series, kMetrics + 2) << "two of them by worker, of two workers";
}

}  // namespace
}  // namespace stoker
