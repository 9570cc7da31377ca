#include "stoker/doctor/verdict/bad_outlook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/doctor/facts_testing.h"
#include "stoker/doctor/verdict/diagnosis.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Facts facts_with(std::int64_t bad, std::int64_t looked, std::int64_t samples, const char* policy = "substitute") {
  Facts facts = healthy_facts();
  facts.data.samples = samples;
  facts.data.bad_samples = {.looked = looked, .bad = bad, .example = "a.tar, sample 'x': it is torn"};
  facts.run.slots = facts.run.different_samples = samples;
  facts.run.bad_sample = policy;
  return facts;
}

TEST(BadOutlook, SoundDataHaveNone) {
  const BadOutlook outlook = bad_outlook(facts_with(0, 300, 300));
  EXPECT_FALSE(outlook.any());
  EXPECT_FALSE(outlook.stops());
  EXPECT_EQ(outlook.text, "");
}

TEST(BadOutlook, AQuarterOfTheDataStopsARun) {
  const BadOutlook outlook = bad_outlook(facts_with(75, 300, 300));
  EXPECT_EQ(outlook.most, 10);
  EXPECT_EQ(outlook.in_epoch, 75);
  EXPECT_TRUE(outlook.stops());
  EXPECT_THAT(
      outlook.text,
      AllOf(StartsWith("75 of the 300 samples that were looked at are bad, such as a.tar, sample 'x': it is torn. "),
            HasSubstr("puts other samples in their place"), HasSubstr("more than 10"),
            HasSubstr("`stoker verify DATA --quarantine FILE`")));
}

TEST(BadOutlook, AccidentsDoNot) {
  EXPECT_FALSE(bad_outlook(facts_with(10, 300, 300)).stops());
  EXPECT_TRUE(bad_outlook(facts_with(11, 300, 300)).stops());
  EXPECT_TRUE(bad_outlook(facts_with(1, 300, 300, "fail")).stops());
  EXPECT_THAT(bad_outlook(facts_with(3, 300, 300, "skip")).text, HasSubstr("leaves them out"));
}

TEST(BadOutlook, WhatWasFoundOnceTellsLittleOfTheRest) {
  EXPECT_FALSE(bad_outlook(facts_with(1, 500, 1'000'000)).stops()) << "it would be 2,000, but one is one";
  EXPECT_TRUE(bad_outlook(facts_with(20, 500, 1'000'000)).stops());
  Facts short_epoch = facts_with(20, 500, 1'000'000);
  short_epoch.run.different_samples = 100;
  EXPECT_LT(bad_outlook(short_epoch).in_epoch, 5) << "a rank meets a part of them";
}

TEST(BadOutlook, TheVerdictIsThatItWouldNotRun) {
  const Diagnosis diagnosis = diagnose(facts_with(75, 300, 300), {}, Catalogue::shipped());
  EXPECT_FALSE(diagnosis.verdict.runs());
  EXPECT_EQ(diagnosis.verdict.sentence,
            "Would not run: 75 of the 300 samples that were looked at are bad, and a run stops when an epoch has met "
            "more than 10");
  EXPECT_THAT(diagnosis.verdict.tentative, StartsWith("Fed: "));
  EXPECT_TRUE(diagnose(facts_with(3, 300, 300), {}, Catalogue::shipped()).verdict.runs());
}

}  // namespace
}  // namespace stoker
