#include "stoker/runtime/report/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error_testing.h"
#include "stoker/device/open_device.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

struct Drawn {
  std::string name;
  double begin, end;
  nlohmann::json args;
};

/// The rows of a trace as a viewer shows them, by name. Fails for what one would not take: events that are not in the
/// order of time, or overlap without one being within the other.
std::map<std::string, std::vector<Drawn>> rows_in(const nlohmann::json& trace) {
  std::map<std::int64_t, std::string> names;
  std::map<std::string, std::vector<Drawn>> rows;
  double before = -1;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") {
      if (event.at("name") == "thread_name") names[event.at("tid")] = event.at("args").at("name");
      continue;
    }
    EXPECT_EQ(event.at("ph"), "X");
    const double begin = event.at("ts"), end = begin + event.at("dur").get<double>();
    EXPECT_GE(begin, before);
    EXPECT_LE(begin, end);
    before = begin;
    rows[names.at(event.at("tid"))].push_back({event.at("name"), begin, end, event.at("args")});
  }
  for (const auto& [name, events] : rows) {
    std::vector<double> ends;  // of those that are under way
    for (const Drawn& event : events) {
      constexpr double kRounding = 0.002;
      while (!ends.empty() && ends.back() <= event.begin + kRounding) ends.pop_back();
      EXPECT_TRUE(ends.empty() || event.end <= ends.back() + kRounding) << name << ": " << event.name;
      ends.push_back(event.end);
    }
  }
  return rows;
}

nlohmann::json parsed(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

std::vector<std::string> names_of(const std::vector<Drawn>& events) {
  std::vector<std::string> names;
  for (const Drawn& event : events) names.push_back(event.name);
  return names;
}

TEST(Trace, HasARowForEachThatIsUnderWayAtOnce) {
  const TempFolder folder;
  const std::string path = folder.path() + "/trace.json";
  Trace trace({.path = path, .process = "a \"name\"", .rank = 3});
  const std::int64_t zero = now_ns();
  const auto read = [&](std::int64_t begin, std::int64_t end) {
    trace.shared().add({.kind = TraceKind::kRead, .begin_ns = zero + begin, .end_ns = zero + end, .number = 99});
  };
  read(500, 700);  // as they end, not as they begin
  read(0, 800);
  read(100, 450);
  trace.write();
  const nlohmann::json json = parsed(path);
  auto rows = rows_in(json);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows["read 0"], SizeIs(1));
  EXPECT_THAT(rows["read 1"], SizeIs(2));
  EXPECT_EQ(rows["read 0"][0].args["bytes"], 99);
  EXPECT_EQ(json["traceEvents"][0]["args"]["name"], "a \"name\"");
  EXPECT_EQ(json["traceEvents"][0]["pid"], 3);
  EXPECT_EQ(json["otherData"]["dropped_events"], 0);
}

TEST(Trace, ShowsTheLifeOfABatch) {
  const TempFolder folder;
  const std::string path = folder.path() + "/trace.json";
  Trace trace({.path = path});
  const std::int64_t zero = now_ns();
  const BatchTimes times{.drawn_ns = zero,
                         .read_ns = zero + 1000,
                         .written_ns = zero + 3000,
                         .sealed_ns = zero + 3000,
                         .delivered_ns = zero + 4000};
  trace.shared().add(batch_event(1, 7, times, zero + 9000));
  trace.write();
  const std::vector<Drawn> batch = rows_in(parsed(path))["batch 0"];
  EXPECT_THAT(names_of(batch), ElementsAre("batch", "reading", "working", "ready", "in use"));
  EXPECT_NEAR(batch.back().end - batch.front().begin, 9, 0.01);
  EXPECT_EQ(batch.front().args["batch"], 7);
}

TEST(Trace, KeepsTheLastEventsAndSaysHowManyItDropped) {
  const TempFolder folder;
  const std::string path = folder.path() + "/trace.json";
  Trace trace({.path = path, .worker_events = 4});
  trace.have_workers(1);
  const std::int64_t zero = now_ns();
  for (std::int64_t i = 0; i < 10; ++i) {
    trace.worker(0).add({.begin_ns = zero + 10 * i, .end_ns = zero + 10 * i + 5, .number = i});
  }
  trace.write();
  const nlohmann::json json = parsed(path);
  EXPECT_EQ(json["otherData"]["dropped_events"], 6);
  std::vector<int> positions;
  const std::vector<Drawn> samples = rows_in(json)["worker 0"];
  for (const Drawn& event : samples) positions.push_back(event.args["position"]);
  EXPECT_THAT(positions, ElementsAre(6, 7, 8, 9));
}

TEST(Trace, ThatCannotBeWrittenIsRefusedBeforeTheWork) {
  EXPECT_EQ(error_of([] { Trace({.path = "/nowhere/at/all/trace.json"}); }).kind(), ErrorKind::kNotFound);
}

TEST(Trace, OfALoaderHasAllOfItsParts) {
  const TempFolder folder;
  const std::string path = folder.path() + "/trace.json";
  {
    const MemoryDataset data = memory_dataset();
    Loader loader(
        data.dataset, small_recipe(),
        {.batch = 10, .threads = 2, .trace = path, .device = open_device("emulated:execute"), .transfer_index = 2});
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (const BatchPtr& batch : loader.epoch(epoch)) EXPECT_EQ(batch->size(), 10);
    }
    loader.set({.threads = 3});
  }
  const nlohmann::json json = parsed(path);
  EXPECT_EQ(json["otherData"]["dropped_events"], 0);
  std::map<std::string, int> counts;
  std::set<std::string> rows;
  for (const auto& [row, events] : rows_in(json)) {
    rows.insert(row);
    for (const std::string& name : names_of(events)) ++counts[name];
  }
  EXPECT_THAT(rows, IsSupersetOf({"consumer", "batch 0", "worker 0", "read 0"}));
  EXPECT_EQ(counts["batch"], 10);
  EXPECT_EQ(counts["in use"], 10);
  EXPECT_EQ(counts["step"], 10);
  EXPECT_EQ(counts["wait"], 10);
  EXPECT_GE(counts["sample"], 100) << "the next epoch's first ones, too";
  EXPECT_GE(counts["hand over"], 10);
  EXPECT_GE(counts["read"], 1);
}

}  // namespace
}  // namespace stoker
