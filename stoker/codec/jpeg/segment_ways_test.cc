#include "stoker/codec/jpeg/segment_ways.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/clock.h"
#include "stoker/codec/jpeg/segment_ways_testing.h"

namespace stoker {
namespace {

int slow_calls = 0, fast_calls = 0, last_calls = 0;
bool is_sound = true;

// Longer than a call that does nothing, whatever else the machine does.
void work_for_a_while() {
  for (const std::int64_t began = now_ns(); now_ns() - began < 2'000'000;) continue;
}
bool take_long(SegmentBuffers&, const SegmentWork&, std::span<const JpegSegment>) {
  ++slow_calls;
  work_for_a_while();
  return is_sound;
}
bool take_no_time(SegmentBuffers&, const SegmentWork&, std::span<const JpegSegment>) {
  ++fast_calls;
  return is_sound;
}
bool take_long_too(SegmentBuffers&, const SegmentWork&, std::span<const JpegSegment>) {
  ++last_calls;
  work_for_a_while();
  return is_sound;
}

class SegmentWaysTest : public testing::Test {
 protected:
  SegmentWaysTest() { slow_calls = fast_calls = last_calls = 0, is_sound = true; }
  bool decode(SegmentWays& ways, std::size_t segments = 100) {
    const std::vector<JpegSegment> many(segments);
    return ways.decode(buffers_, work_, many);
  }
  static std::vector<SegmentWay> three() {
    return {{"slow", take_long}, {"fast", take_no_time}, {"last", take_long_too}};
  }

  SegmentBuffers buffers_;
  SegmentWork work_;
};

TEST_F(SegmentWaysTest, AfterATrialOnlyTheFastestIsTaken) {
  SegmentWays ways(three());
  EXPECT_THAT(ways.names(), testing::ElementsAre("slow", "fast", "last"));
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(decode(ways));
  EXPECT_EQ(fast_calls, 40);
  EXPECT_EQ(slow_calls, last_calls);
  EXPECT_GE(slow_calls, 3);
  EXPECT_LT(slow_calls, 20);
}

TEST_F(SegmentWaysTest, ImagesOfFewSegmentsAreDecodedInTheFirstWayUntilOthersWereTried) {
  SegmentWays ways(three());
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(decode(ways, 5));
  EXPECT_EQ(slow_calls, 20);
  EXPECT_EQ(last_calls + fast_calls, 0) << "they say nothing about time";
  for (int i = 0; i < 20; ++i) decode(ways);
  decode(ways, 5);
  EXPECT_EQ(fast_calls, 21);
}

TEST_F(SegmentWaysTest, TheOnlyWayNeedsNoTrial) {
  SegmentWays ways({{"fast", take_no_time}});
  for (int i = 0; i < 5; ++i) decode(ways);
  EXPECT_EQ(fast_calls, 5);
}

TEST_F(SegmentWaysTest, WhatIsNotSoundIsSaidAtOnceAndProvesNothing) {
  SegmentWays ways(three());
  is_sound = false;
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(decode(ways));
  EXPECT_EQ(slow_calls, 30) << "the first one finds out";
  EXPECT_EQ(fast_calls + last_calls, 0);
}

TEST_F(SegmentWaysTest, ASelectedWayIsTakenUntilATrialIsAskedFor) {
  SegmentWays ways(three());
  ways.select("last");
  for (int i = 0; i < 12; ++i) decode(ways);
  EXPECT_EQ(last_calls, 12);
  ways.select({});
  for (int i = 0; i < 40; ++i) decode(ways);
  EXPECT_EQ(fast_calls, 40);
}

TEST(SegmentWaysOfMachine, AreTested) {
  const std::string before = active_isa();
  for (const std::string& isa : available_isas()) {
    select_isa(isa);
    for (const std::string& way : SegmentDecoder::ways()) {
      EXPECT_TRUE(std::any_of(std::begin(kSegmentWays), std::end(kSegmentWays),
                              [&](const IsaAndWay& known) { return known.isa == isa && known.way == way; }))
          << isa << " by " << way;
    }
  }
  select_isa(before);
}

}  // namespace
}  // namespace stoker
