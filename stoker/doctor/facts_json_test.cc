#include "stoker/doctor/facts_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

Facts some_facts() {
  Facts facts;
  facts.machine.name = "a machine, 8 cores";
  facts.machine.cores = 1.5;
  facts.machine.gpus.push_back({.name = "H100", .bus_id = "0000:3b:00.0", .numa_node = 1});
  facts.storage.emplace();
  facts.storage->device_class = "nvme";
  facts.storage->cold.push_back(
      {.bytes = 4096, .depth = 16, .reads_per_s = {.median = 1e5, .low = 9e4, .high = 1.1e5, .count = 5}});
  facts.storage->cold[0].reads_per_s.caveat = "20% of the bytes came from the page cache";
  facts.storage->limit_reads_per_s = 200;
  facts.cpu.stages.push_back({.name = "decode", .kind = "decode", .cpu_s = 0.002});
  facts.cpu.stages.push_back({.name = "geometry", .kind = "geometry", .cpu_s = 0.001, .device_s = 1e-5});
  facts.cpu.sample_s = {0.001, 0.002, 0.01};
  facts.copy.device_s = {std::nullopt, 1e-5};
  facts.data.codecs.push_back({"jpeg", 1});
  facts.data.samples = 1'281'167;
  facts.run.memory_bytes = UINT64_MAX;
  facts.doubts = {"other programs used 0.5 of 2 cores"};
  return facts;
}

TEST(FactsJson, ComesBackAsItWas) {
  const nlohmann::ordered_json json = facts_json(some_facts());
  EXPECT_EQ(facts_json(facts_of_json(json)), json);
  const Facts facts = facts_of_json(nlohmann::ordered_json::parse(json.dump()));
  EXPECT_EQ(facts.machine.cores, 1.5);
  EXPECT_EQ(facts.machine.gpus.at(0).numa_node, 1);
  ASSERT_TRUE(facts.storage);
  EXPECT_EQ(facts.storage->cold.at(0).reads_per_s.high, 1.1e5);
  EXPECT_EQ(facts.storage->cold.at(0).reads_per_s.caveat, "20% of the bytes came from the page cache");
  EXPECT_EQ(facts.storage->limit_bytes_per_s, std::nullopt);
  EXPECT_EQ(facts.storage->limit_reads_per_s, 200);
  EXPECT_FALSE(facts.store);
  EXPECT_EQ(facts.cpu.stages.at(1).device_s, 1e-5);
  EXPECT_EQ(facts.copy.device_s, (std::vector<std::optional<double>>{std::nullopt, 1e-5}));
  EXPECT_EQ(facts.run.memory_bytes, UINT64_MAX);
  EXPECT_EQ(facts.doubts, some_facts().doubts);
}

TEST(FactsJson, SaysWhatIsNotKnown) {
  const nlohmann::ordered_json json = facts_json(some_facts());
  EXPECT_TRUE(json["store"].is_null());
  EXPECT_TRUE(json["storage"]["warm_bytes_per_s"].is_null());
  EXPECT_TRUE(json["machine"]["network_bytes_per_s"].is_null());
  EXPECT_FALSE(facts_of_json(json).storage->warm_bytes_per_s.known());
}

TEST(FactsJson, LeavesOutWhatEarlierFactsLack) {
  const Facts facts = facts_of_json(nlohmann::ordered_json::parse(R"({"machine": {"cores": 3}, "later": 1})"));
  EXPECT_EQ(facts.machine.cores, 3);
  EXPECT_EQ(facts.machine.sockets, 1);
}

TEST(FactsJson, RefusesOtherThings) {
  for (const char* const text : {"[]", R"({"machine": 1})", R"({"machine": {"cores": "many"}})", R"({"doubts": {}})"}) {
    const Error error = error_of([&] { facts_of_json(nlohmann::ordered_json::parse(text)); });
    EXPECT_EQ(error.kind(), ErrorKind::kData) << text;
  }
  const Error error = error_of([] { facts_of_json(nlohmann::ordered_json::parse(R"({"machine": {"gpus": 1}})")); });
  EXPECT_THAT(error.message(), HasSubstr("machine: gpus: it is no list"));
}

}  // namespace
}  // namespace stoker
