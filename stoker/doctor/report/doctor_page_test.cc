#include "stoker/doctor/report/doctor_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stoker/doctor/facts_testing.h"
#include "stoker/doctor/report/diagnosis_json.h"
#include "stoker/doctor/report/doctor_charts.h"
#include "stoker/doctor/report/doctor_words.h"
#include "stoker/page/xml_testing.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

Diagnosis diagnosis_of(const Facts& facts, std::vector<std::string> what_ifs = {}) {
  return diagnose(
      facts,
      {.subject = "photos/train, imagenet-train",
       .commands = {"stoker doctor photos/train --step 0.1"},
       .what_ifs = std::move(what_ifs),
       .runs = {{"run.json", {.threads = facts.run.threads}, 500, facts.run.batch, facts.step.seconds.median}}},
      Catalogue::shipped());
}

const std::vector<Facts>& all_facts() {
  static const std::vector<Facts> all = {healthy_facts(),      few_cores_facts(),  small_files_facts(),
                                         object_store_facts(), eight_gpus_facts(), small_memory_facts(),
                                         heavy_recipe_facts()};
  return all;
}

std::vector<Json> charts_of(const std::string& html) {
  const std::string mark = R"(<script id="charts" type="application/json">)";
  const std::size_t begin = html.find(mark) + mark.size();
  return Json::parse(html.substr(begin, html.find("</script>", begin) - begin)).get<std::vector<Json>>();
}

TEST(DoctorPage, IsWellFormedAndSaysTheVerdictForEveryMachine) {
  for (const Facts& facts : all_facts()) {
    const Diagnosis diagnosis = diagnosis_of(facts, {"cores=16"});
    const std::string html = doctor_page_html(diagnosis);
    EXPECT_EQ(xml_fault(html), "");
    EXPECT_THAT(html, HasSubstr(diagnosis.verdict.sentence));
    EXPECT_THAT(html, HasSubstr(diagnosis.verdict.fed() ? "verdict good" : "verdict poor"));
    EXPECT_THAT(html, HasSubstr("<pre>stoker doctor photos/train --step 0.1</pre>"));
    const std::vector<Json> charts = charts_of(html);
    EXPECT_GE(charts.size(), 5U);
    for (const Json& chart : charts) EXPECT_TRUE(chart.contains("kind"));
  }
}

TEST(DoctorPage, SaysThatItCannotBeMeasured) {
  Facts facts = few_cores_facts();
  facts.machine.stolen_share = 0.5;
  const std::string html = doctor_page_html(diagnosis_of(facts));
  EXPECT_THAT(html,
              AllOf(HasSubstr("verdict open"), HasSubstr("Not measurable: "), HasSubstr("As far as it was measured")));
}

TEST(DoctorPage, IsSaneWithHardlyAnyFact) {
  Facts facts;
  facts.cpu.stages.push_back({.name = "decode", .kind = "decode", .cpu_s = 1e-3});
  facts.cpu.sample_s = {1e-3, 1e-3, 1e-3};
  facts.data.samples = 1;
  facts.run.batch = facts.run.threads = facts.run.prefetch = facts.run.io_depth = 1;
  const Diagnosis diagnosis = diagnosis_of(facts);
  EXPECT_EQ(xml_fault(doctor_page_html(diagnosis)), "");
  EXPECT_FALSE(diagnosis.verdict.measurable());
  EXPECT_TRUE(diagnosis_json(diagnosis)["fed"].is_null());
}

TEST(DoctorCharts, DrawTheLadderAgainstTheDemand) {
  const Diagnosis diagnosis = diagnosis_of(few_cores_facts());
  const Json chart = ladder_chart(diagnosis).data;
  EXPECT_EQ(chart["rows"].size(), diagnosis.now.limits.size());
  EXPECT_EQ(chart["rows"][0]["label"], "cpu decode");
  EXPECT_EQ(chart["rows"][0]["bars"][0]["color"], "wait");
  EXPECT_NEAR(chart["level"]["at"].get<double>(), diagnosis.now.samples_per_s_needed,
              1e-4 * diagnosis.now.samples_per_s_needed);
  EXPECT_LE(chart["most"].get<double>(), 2.5 * diagnosis.now.samples_per_s_needed + 1);
}

TEST(DoctorCharts, SplitTheTimeOfGpuAndCore) {
  const Json rows = time_chart(diagnosis_of(few_cores_facts())).data["rows"];
  ASSERT_EQ(rows.size(), 2U);
  for (const Json& row : rows) {
    double sum = 0;
    for (const Json& part : row["parts"]) sum += part["share"].get<double>();
    EXPECT_NEAR(sum, 1, 1e-3);
  }
  EXPECT_EQ(rows[0]["parts"][0]["label"], "busy");
  EXPECT_EQ(rows[1]["parts"][0]["label"], "decode");
}

TEST(DoctorCharts, HaveOneRowForEachTransferIndex) {
  const std::optional<DoctorChart> chart = index_chart(diagnosis_of(few_cores_facts()));
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->data["rows"], Json::parse(R"(["0: coded", "1: decoded", "2: resized", "3: finished"])"));
  EXPECT_EQ(chart->data["framed"], Json::parse("[3, 1]"));  // the run's: index 3, two threads
  Facts none = few_cores_facts();
  none.copy = {};
  EXPECT_FALSE(index_chart(diagnosis_of(none)));
}

TEST(DoctorCharts, CompareRunsWithWhatIsPredicted) {
  const Diagnosis diagnosis = diagnosis_of(few_cores_facts());
  const std::optional<DoctorChart> chart = run_chart(diagnosis);
  ASSERT_TRUE(chart);
  const Json bars = chart->data["rows"][0]["bars"];
  EXPECT_EQ(bars[1]["value"], 500);
  EXPECT_NEAR(bars[0]["value"].get<double>() / 500 - 1, diagnosis.runs[0].error(), 1e-3);
}

TEST(DoctorCharts, ShowColdReadsBesideWarmOnes) {
  const std::optional<DoctorChart> chart = storage_chart(diagnosis_of(small_files_facts()));
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->data["rows"].size(), 1U + small_files_facts().storage->cold.size());
  for (const Json& row : chart->data["rows"]) EXPECT_EQ(row["bars"].size(), 2U);
  EXPECT_FALSE(storage_chart(diagnosis_of(object_store_facts())));
}

TEST(DoctorCharts, MarkTheMedianOfADistribution) {
  const std::optional<DoctorChart> chart = distribution_chart(diagnosis_of(healthy_facts()), Distribution::kBytes);
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->data["marks"][0]["text"], "median 110 KB");
  EXPECT_EQ(chart->data["edges"].size(), chart->data["shares"].size() + 1);
  EXPECT_FALSE(distribution_chart(diagnosis_of(healthy_facts()), Distribution::kWidth));
}

TEST(DiagnosisJson, HasEveryKeyThatScriptsRelyOn) {
  for (const Facts& facts : all_facts()) {
    const Diagnosis diagnosis = diagnosis_of(facts, {"cores=32", "gpus=2"});
    const Json json = diagnosis_json(diagnosis);
    for (const char* const key :
         {"verdict", "fed", "samples_per_s", "samples_per_s_needed", "gpu_idle", "bottleneck", "limits", "changes",
          "useless", "machine", "what_if", "right_size", "facts", "doubts"}) {
      EXPECT_TRUE(json.contains(key)) << key;
    }
    EXPECT_EQ(json["verdict"], diagnosis.verdict.sentence);
    EXPECT_EQ(json["fed"], diagnosis.verdict.fed());
    EXPECT_EQ(json["limits"][0]["samples_per_s"], diagnosis.now.limits[0].samples_per_s);
    EXPECT_EQ(json["what_if"].size(), 2U);
    for (const Json& change : json["changes"]) {
      EXPECT_TRUE(change["change"].is_string() && change["gain"].is_number() && change["error"].is_number());
    }
    double sum = 0;
    for (const Json& part : json["gpu_time"]) sum += part["share"].get<double>();
    EXPECT_NEAR(sum, 1, 1e-9);
  }
}

TEST(DoctorWords, WriteGainsAsPeopleReadThem) {
  EXPECT_EQ(gain_text(0.312), "+31%");
  EXPECT_EQ(gain_text(-0.2), "-20%");
  EXPECT_EQ(gain_text(0.001), "no change");
  EXPECT_EQ(gain_with_error(0.312, 0.04), "+31% ± 4%");
  EXPECT_EQ(gain_with_error(0.001, 0.04), "no change");
}

TEST(DoctorWords, SayWhichMachineIsNeeded) {
  const Diagnosis diagnosis = diagnosis_of(few_cores_facts());
  const std::vector<NamedText> texts = right_size_texts(diagnosis);
  ASSERT_GE(texts.size(), 3U);
  EXPECT_EQ(texts[0].name, "training");
  EXPECT_THAT(texts[0].text, HasSubstr("vCPUs per GPU"));
  EXPECT_THAT(rate_sentence(diagnosis), HasSubstr("highly input-bound"));
}

}  // namespace
}  // namespace stoker
