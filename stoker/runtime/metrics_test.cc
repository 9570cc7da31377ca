#include "stoker/runtime/metrics.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace stoker {
namespace {

TEST(Metrics, TheTableNamesEachOnce) {
  std::set<std::string_view> names;
  for (const MetricSpec& spec : metric_table()) {
    EXPECT_TRUE(names.insert(spec.name).second && !spec.doc.empty()) << spec.name;
    const bool is_stage = spec.side == "cpu" || spec.side == "device";
    EXPECT_EQ(is_stage, !spec.stage.empty()) << spec.name;
    EXPECT_TRUE(!is_stage || spec.name.ends_with("_ns")) << spec.name;
  }
  const auto name = [](Metric metric) { return metric_table()[static_cast<std::size_t>(metric)].name; };
  EXPECT_EQ(name(Metric::kSamples), "samples");
  EXPECT_EQ(name(Metric::kReadNs), "read_ns");
  EXPECT_EQ(name(Metric::kTransferIndex), "transfer_index");
}

}  // namespace
}  // namespace stoker
