#include "stoker/tuner/trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

namespace stoker {
namespace {

constexpr KnobSetting kOne = {.threads = 1, .transfer_index = 2, .prefetch = 4, .io_depth = 8};
constexpr KnobSetting kTwo = {.threads = 2, .transfer_index = 2, .prefetch = 4, .io_depth = 8};
constexpr KnobSetting kFour = {.threads = 4, .transfer_index = 2, .prefetch = 4, .io_depth = 8};

constexpr double kSpreadBefore = 0.015;  // what is expected of windows that nothing is known of

double same_step(const KnobSetting& /*knobs*/) { return 1; }

// A consumer that waits half of its time does not set the pace.
WindowReading reading(double rate_log, double wait_share = 0.5, double step_log = 0) {
  return {.rate_log = rate_log, .step_log = step_log, .wait_share = wait_share, .cpu_log = 0, .device_log = 0};
}

Belief rate(const Trials& trials, const KnobSetting& knobs, double drift = Trials::kDriftPerWindow) {
  return trials.rate_log(*trials.find(knobs), drift);
}

// The setting before, of which that is known for sure.
Belief after(double rate_log) { return {rate_log, 0}; }

// What a window shows of whose samples this part was made at the rate before.
double mixed(double carry, double before, double now) {
  return -std::log(carry * std::exp(-before) + (1 - carry) * std::exp(-now));
}

// Two settings whose rates differ by 1, in turn, two windows each. The first of each has this part of what was before.
void alternate(Trials& trials, double carry, int times) {
  double before = 0;
  trials.add(kOne, reading(0), std::nullopt);
  for (int i = 0; i < times; ++i) {
    const KnobSetting& knobs = i % 2 == 0 ? kTwo : kOne;
    const double now = i % 2 == 0 ? 1 : 0;
    trials.add(knobs, reading(mixed(carry, before, now)), after(before));
    trials.add(knobs, reading(now), std::nullopt);
    before = now;
  }
}

TEST(Trials, KeepTheLatestWindowsOfASettingThatStays) {
  Trials trials(same_step);
  for (int i = 0; i < 10'000; ++i) trials.add(kOne, reading(i < 9'000 ? 1 : 2), std::nullopt);
  EXPECT_LE(trials.find(kOne)->count(), 100);
  EXPECT_NEAR(rate(trials, kOne).mean, 2, 1e-9);
}

TEST(Trials, KeepTheWindowThatShowsASettingAlone) {
  Trials trials(same_step);
  trials.add(kOne, reading(1), std::nullopt);
  for (int i = 0; i < 1'000; ++i) {
    trials.add(kTwo, reading(3), after(2));
    trials.add(kOne, reading(2), after(3));
  }
  const std::vector<Trial::Window>& windows = trials.find(kOne)->windows;
  EXPECT_LE(windows.size(), 100U);
  EXPECT_FALSE(windows.front().before);
  EXPECT_NEAR(rate(trials, kOne, 0).mean, 1, 1e-9);
}

TEST(Trials, KeepTheWindowsOfASettingTogether) {
  Trials trials(same_step);
  EXPECT_EQ(trials.find(kOne), nullptr);
  trials.add(kOne, reading(1), std::nullopt);
  trials.add(kTwo, reading(2), after(1));
  trials.add(kOne, reading(3), after(2));
  ASSERT_EQ(trials.all().size(), 2U);
  EXPECT_EQ(trials.find(kOne)->count(), 2);
  EXPECT_EQ(trials.find(kOne)->windows[1].reading.rate_log, 3);
  EXPECT_EQ(trials.find(kTwo)->count(), 1);
  KnobSetting other = kOne;
  other.io_depth = 9;
  EXPECT_EQ(trials.find(other), nullptr);
}

TEST(Trials, CountTheWindowsOfOthersSinceTheLast) {
  Trials trials(same_step);
  trials.add(kOne, reading(0), std::nullopt);
  trials.add(kTwo, reading(0), after(0));
  trials.add(kTwo, reading(0), std::nullopt);
  EXPECT_EQ(trials.find(kOne)->age, 2);
  EXPECT_EQ(trials.find(kTwo)->age, 0);
  trials.add(kOne, reading(0), after(0));
  EXPECT_EQ(trials.find(kOne)->age, 0);
  EXPECT_EQ(trials.find(kTwo)->age, 1);
}

TEST(Trials, HaveMeansWithoutFirstWindowsIfThereAreOthers) {
  Trials trials(same_step);
  trials.add(kOne, reading(0, 0.9), std::nullopt);
  trials.add(kTwo, reading(5, 0.7), after(0));
  EXPECT_DOUBLE_EQ(trials.find(kTwo)->mean(&WindowReading::wait_share), 0.7);
  trials.add(kTwo, reading(6, 0.3), std::nullopt);
  trials.add(kTwo, reading(8, 0.1), std::nullopt);
  EXPECT_DOUBLE_EQ(trials.find(kTwo)->mean(&WindowReading::wait_share), 0.2);
  EXPECT_DOUBLE_EQ(trials.find(kTwo)->mean(&WindowReading::rate_log), 7);
}

TEST(Trials, BelieveOneWindowAsFarAsWindowsSpread) {
  Trials trials(same_step);
  trials.add(kOne, reading(3), std::nullopt);
  EXPECT_NEAR(rate(trials, kOne).mean, 3, 1e-6);
  EXPECT_NEAR(rate(trials, kOne).sd, kSpreadBefore, 1e-6);
}

TEST(Trials, BelieveManyWindowsMoreThanOne) {
  Trials trials(same_step);
  for (int i = 0; i < 9; ++i) trials.add(kOne, reading(3), std::nullopt);
  EXPECT_NEAR(rate(trials, kOne).mean, 3, 1e-6);
  EXPECT_NEAR(rate(trials, kOne).sd, trials.spread() / 3, 1e-6);
}

TEST(Trials, FindHowWindowsOfOneSettingDiffer) {
  Trials trials(same_step);
  EXPECT_DOUBLE_EQ(trials.spread(), kSpreadBefore);
  for (int i = 0; i < 60; ++i) trials.add(i < 30 ? kOne : kTwo, reading(i % 2 == 0 ? 0.1 : 0.0), std::nullopt);
  // Each is 0.05 from the middle; a normal distribution of which half is nearer than that spreads 0.074.
  EXPECT_NEAR(trials.spread(), 0.074, 0.005);
}

TEST(Trials, DoNotTakeWhatDiffersBetweenSettingsForSpread) {
  Trials trials(same_step);
  for (int i = 0; i < 60; ++i) trials.add(i < 30 ? kOne : kTwo, reading(i < 30 ? 0.0 : 1.0), std::nullopt);
  EXPECT_LT(trials.spread(), 0.006);
  EXPECT_GE(trials.spread(), 0.002);  // none are quite alike
}

TEST(Trials, DoNotTakeAFewStrangeWindowsForSpread) {
  Trials trials(same_step);
  for (int i = 0; i < 40; ++i) trials.add(kOne, reading(i % 10 == 7 ? -2 : i % 2 == 0 ? 0.01 : 0.0), std::nullopt);
  EXPECT_LT(trials.spread(), 0.015);
}

TEST(Trials, DoNotTakeFirstWindowsAfterAJumpForSpread) {
  Trials trials(same_step);
  for (int i = 0; i < 20; ++i) {
    trials.add(kOne, reading(0.5), after(1));
    trials.add(kOne, reading(0), std::nullopt);
  }
  EXPECT_LT(trials.spread(), 0.01);
}

TEST(Trials, LeaveOutTheFirstWindowAfterAChangeWhereThereAreOthers) {
  Trials trials(same_step);
  trials.add(kOne, reading(0), std::nullopt);
  trials.add(kTwo, reading(0.5), after(0));
  EXPECT_NEAR(rate(trials, kTwo).mean, 0.5, 1e-6);
  // It may be far off: a part of the jump is still to come.
  EXPECT_GT(rate(trials, kTwo).sd, 0.1);
  trials.add(kTwo, reading(1), std::nullopt);
  EXPECT_NEAR(rate(trials, kTwo).mean, 1, 1e-6);
  EXPECT_NEAR(rate(trials, kTwo).sd, kSpreadBefore, 1e-6);
}

TEST(Trials, KnowWhatFirstWindowsAreWorthOnceTwoWereCompared) {
  Trials trials(same_step);
  EXPECT_FALSE(trials.knows_carry());
  alternate(trials, 0.5, 1);
  EXPECT_FALSE(trials.knows_carry());
  alternate(trials, 0.5, 1);
  EXPECT_TRUE(trials.knows_carry());
}

TEST(Trials, LearnNothingOfFirstWindowsFromSmallChanges) {
  Trials trials(same_step);
  for (int i = 0; i < 10; ++i) {
    trials.add(i % 2 == 0 ? kTwo : kOne, reading(0.01), after(0));
    trials.add(i % 2 == 0 ? kTwo : kOne, reading(0.02), std::nullopt);
  }
  EXPECT_FALSE(trials.knows_carry());
}

TEST(Trials, PutRightFirstWindowsByWhatTheyWereFoundToLack) {
  for (const double carry : {0.2, 0.5}) {
    for (const double now : {-1.0, 1.3}) {
      Trials trials(same_step);
      alternate(trials, carry, 40);
      trials.add(kFour, reading(mixed(carry, 0, now)), after(0));
      EXPECT_NEAR(rate(trials, kFour).mean, now, 0.05) << carry;
      EXPECT_GT(rate(trials, kFour).sd, trials.spread());
    }
  }
}

TEST(Trials, LearnOfFirstWindowsAllTheSameWhetherTheyBecomeFasterOrSlower) {
  for (const double jump : {-1.0, 1.0}) {
    Trials trials(same_step);
    for (int i = 0; i < 8; ++i) {
      trials.add(kOne, reading(mixed(0.4, 0, jump)), after(0));
      trials.add(kOne, reading(jump), std::nullopt);
    }
    trials.add(kTwo, reading(mixed(0.4, 0, 0.5)), after(0));
    EXPECT_NEAR(rate(trials, kTwo).mean, 0.5, 0.05) << jump;
  }
}

TEST(Trials, AreLessSureOfAFirstWindowTheLessIsKnownOfTheSettingBefore) {
  Trials trials(same_step);
  alternate(trials, 0.5, 40);
  trials.add(kTwo, reading(0.5), Belief{0.3, 0});
  trials.add(kFour, reading(0.5), Belief{0.3, 0.2});
  EXPECT_GT(rate(trials, kFour).sd, 2 * rate(trials, kTwo).sd);
}

TEST(Trials, BelieveNoFirstWindowThatMoreOfItIsOfWhatWasBeforeThanCanBe) {
  Trials trials(same_step);
  alternate(trials, 0.5, 40);
  trials.add(kFour, reading(2), after(0));  // with half of the samples as slow as before it could not be
  EXPECT_TRUE(std::isfinite(rate(trials, kFour).mean));
  EXPECT_GT(rate(trials, kFour).mean, 2);
  EXPECT_GT(rate(trials, kFour).sd, 0.1);
}

TEST(Trials, CountFirstWindowsAsOthersWhereTheyWereFoundToBeAsGood) {
  for (const double carry : {0.0, 0.5}) {
    Trials trials(same_step);
    alternate(trials, carry, 40);
    const double before = trials.all().back().windows.back().reading.rate_log;
    trials.add(kFour, reading(before + 0.01), after(before));
    trials.add(kFour, reading(before + 0.01), std::nullopt);
    const double of_one = trials.spread();
    if (carry == 0) {
      EXPECT_LT(rate(trials, kFour).sd, 0.75 * of_one);
    } else {
      EXPECT_NEAR(rate(trials, kFour).sd, of_one, 1e-6);
    }
  }
}

TEST(Trials, BelieveTheFasterOfTwoThatDisagree) {
  Trials trials(same_step);
  for (int i = 0; i < 20; ++i) trials.add(kTwo, reading(0), std::nullopt);  // that windows are much alike is known
  trials.add(kOne, reading(1), std::nullopt);
  trials.add(kOne, reading(0.5), std::nullopt);
  EXPECT_LT(3 * trials.spread(), 0.5);
  // The slower one draws by what is usual at most: three quarters of the spread.
  EXPECT_GT(rate(trials, kOne).mean, 1 - 0.76 * trials.spread());
  EXPECT_LT(rate(trials, kOne).mean, 1);
}

TEST(Trials, TakeTheMiddleOfTwoThatAgree) {
  Trials trials(same_step);
  trials.add(kOne, reading(1), std::nullopt);
  trials.add(kOne, reading(1.03), std::nullopt);  // less than three times the spread
  EXPECT_NEAR(rate(trials, kOne).mean, 1.015, 1e-6);
}

TEST(Trials, DoNotMindOneStrangeWindowAmongMany) {
  for (const double strange : {-1.0, 3.0}) {
    Trials trials(same_step);
    for (const double each : {1.0, 1.0, strange, 1.0, 1.0}) trials.add(kOne, reading(each), std::nullopt);
    EXPECT_NEAR(rate(trials, kOne).mean, 1, 0.35 * trials.spread());
  }
}

TEST(Trials, AreBelievedLessTheLongerTheyArePast) {
  Trials trials(same_step);
  trials.add(kOne, reading(0), std::nullopt);
  const double fresh = rate(trials, kOne, 0).sd;
  trials.add(kTwo, reading(0), after(0));
  for (int i = 1; i < 10; ++i) trials.add(kTwo, reading(0), std::nullopt);
  const double still = rate(trials, kOne, 0).sd;
  EXPECT_LE(still, fresh);
  EXPECT_NEAR(rate(trials, kOne, 0.01).sd, std::hypot(still, 10 * 0.01), 1e-6);
  EXPECT_NEAR(rate(trials, kOne).sd, std::hypot(still, 10 * Trials::kDriftPerWindow), 1e-6);
  EXPECT_EQ(rate(trials, kTwo, 0.01).sd, rate(trials, kTwo, 0).sd);
}

TEST(Trials, AreRidOfWhatOnlyTheConsumersOwnStepsDifferedBy) {
  Trials trials(same_step);
  // It never waits; and both do the same.
  trials.add(kOne, reading(-0.01, 0, 0.01), std::nullopt);
  trials.add(kTwo, reading(0.01, 0, -0.01), after(-0.01));
  EXPECT_NEAR(rate(trials, kOne).mean, 0, 0.002);
  EXPECT_NEAR(rate(trials, kTwo).mean, 0, 0.002);
  EXPECT_LT(rate(trials, kTwo).sd, 0.5 * kSpreadBefore);
}

TEST(Trials, KeepWhatTheConsumersStepsDifferByWhereTheyDoNotSetThePace) {
  Trials trials(same_step);
  trials.add(kOne, reading(-0.01, 0.5, 0.01), std::nullopt);
  trials.add(kTwo, reading(0.01, 0.5, -0.01), after(-0.01));
  EXPECT_NEAR(rate(trials, kOne).mean, -0.01, 1e-6);
  EXPECT_NEAR(rate(trials, kTwo).mean, 0.01, 0.001);
}

TEST(Trials, BelieveThatStepsDifferOnceManyWindowsSayIt) {
  Trials trials(same_step);
  for (int i = 0; i < 60; ++i) {
    trials.add(kOne, reading(-0.1, 0, 0.1), std::nullopt);
    trials.add(kTwo, reading(0.1, 0, -0.1), std::nullopt);
  }
  EXPECT_NEAR(rate(trials, kOne).mean, -0.1, 0.01);
  EXPECT_NEAR(rate(trials, kTwo).mean, 0.1, 0.01);
}

TEST(Trials, TellTheConsumersStepOfAnIndexThatWasTried) {
  Trials trials(same_step);
  EXPECT_EQ(trials.step_log(kOne), std::nullopt);
  trials.add(kOne, reading(0, 0, 0.3), std::nullopt);
  trials.add(kOne, reading(0, 0, 0.5), std::nullopt);
  ASSERT_TRUE(trials.step_log(kOne));
  EXPECT_NEAR(trials.step_log(kOne)->mean, 0.4, 1e-9);
  KnobSetting other = kOne;
  other.transfer_index = 1;
  EXPECT_EQ(trials.step_log(other), std::nullopt);
}

TEST(Trials, KnowTheStepBetterTheMoreWindowsShowIt) {
  Trials trials(same_step);
  trials.add(kOne, reading(0, 0, 0.3), std::nullopt);
  EXPECT_NEAR(trials.step_log(kFour)->mean, 0.3, 1e-9);
  EXPECT_NEAR(trials.step_log(kFour)->sd, kSpreadBefore, 1e-9);
  trials.add(kTwo, reading(0, 0, 0.3), after(0));
  EXPECT_LT(trials.step_log(kFour)->sd, 0.8 * kSpreadBefore);
}

TEST(Trials, ExpectOfStepsWhatTheyAreToldTo) {
  Trials trials([](const KnobSetting& knobs) { return 1.0 + knobs.threads; });
  trials.add(kOne, reading(0, 0, std::log(2)), std::nullopt);
  EXPECT_NEAR(trials.step_log(kFour)->mean, std::log(5), 1e-9);
  trials.add(kFour, reading(0, 0, std::log(6)), after(0));  // a fifth longer than expected
  EXPECT_NEAR(trials.step_log(kTwo)->mean, std::log(3) + std::log(1.2) / 2, 1e-9);
}

TEST(Trials, KeepWhatTheSettingBeforeMayHaveBeenByItself) {
  Trials trials(same_step);
  trials.add(kOne, reading(0, 0, std::log(1)), std::nullopt);
  trials.add(kTwo, reading(0, 0, std::log(2)), after(0));
  EXPECT_FALSE(trials.find(kTwo)->windows.back().left_own);  // kOne was there alone
  trials.add(kFour, reading(0, 0, std::log(2)), after(0));
  const Trial::Window& window = trials.find(kFour)->windows.back();
  ASSERT_TRUE(window.left_own);
  EXPECT_NEAR(window.left->step_log, std::log(2), 1e-9);
  EXPECT_NEAR(window.left_own->step_log, std::log((2 - 0.7 * 1) / 0.3), 1e-9);
}

TEST(Trials, ForgetAllButWhatFirstWindowsAreWorthWhenCleared) {
  Trials trials(same_step);
  alternate(trials, 0.5, 10);
  for (int i = 0; i < 20; ++i) trials.add(kFour, reading(i % 2), std::nullopt);
  trials.clear();
  EXPECT_TRUE(trials.all().empty());
  EXPECT_EQ(trials.find(kOne), nullptr);
  EXPECT_DOUBLE_EQ(trials.spread(), kSpreadBefore);
  EXPECT_EQ(trials.step_log(kOne), std::nullopt);
  EXPECT_TRUE(trials.knows_carry());
  trials.add(kOne, reading(0), std::nullopt);
  trials.add(kTwo, reading(mixed(0.5, 0, 0.5)), after(0));
  EXPECT_NEAR(rate(trials, kTwo).mean, 0.5, 0.05);
}

}  // namespace
}  // namespace stoker
