#include "stoker/tuner/departure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace stoker {
namespace {

constexpr double kSpread = 0.01;

struct Measured {
  double rate = 1000, step_s = 0.1, cpu_s = 1e-3, device_s = 0;
};

WindowReading reading(const Measured& measured) {
  return {std::log(measured.rate), std::log(measured.step_s), 0, std::log(measured.cpu_s + kNoSeconds),
          std::log(measured.device_s + kNoSeconds)};
}

Trial::Window alone(const Measured& measured) { return {reading(measured)}; }

// The first after a change of knobs; `left` is what the setting before measured.
Trial::Window first(const Measured& measured, const Measured& left) {
  return {reading(measured), Belief{std::log(left.rate), 0.01}, reading(left)};
}

Trial trial_of(std::vector<Trial::Window> windows) { return {.knobs = {}, .windows = std::move(windows)}; }

TEST(Departure, OfTwoWindowsInARowIsAChange) {
  const Trial trial = trial_of({alone({}), alone({}), alone({.step_s = 0.05}), alone({.step_s = 0.052})});
  const auto found = departure(trial, kSpread, 2);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "the training's own steps have changed");
  EXPECT_NEAR(found->by, std::log(0.52), 1e-9);  // what both agree on
}

TEST(Departure, OfOneWindowIsNotYetAChange) {
  const Trial trial = trial_of({alone({}), alone({}), alone({.step_s = 0.05})});
  EXPECT_TRUE(departure(trial, kSpread, 1));
  EXPECT_FALSE(departure(trial, kSpread, 2));
}

TEST(Departure, IsNoneWhereTwoWindowsDisagree) {
  EXPECT_FALSE(departure(trial_of({alone({}), alone({.rate = 500}), alone({.rate = 2000})}), kSpread, 2));
  EXPECT_FALSE(departure(trial_of({alone({}), alone({.rate = 500}), alone({})}), kSpread, 2));
}

TEST(Departure, IsNoneWithinWhatWasSeenBefore) {
  EXPECT_FALSE(departure(trial_of({alone({.rate = 500}), alone({.rate = 900}), alone({.rate = 700})}), kSpread, 1));
  EXPECT_TRUE(departure(trial_of({alone({.rate = 500}), alone({.rate = 900}), alone({.rate = 1200})}), kSpread, 1));
}

TEST(Departure, IsNoneWithinNoise) {
  const Trial trial = trial_of({alone({}), alone({.rate = 1090}), alone({.rate = 1210})});
  EXPECT_TRUE(departure(trial, 0.01, 1));
  EXPECT_FALSE(departure(trial, 0.03, 1));
}

TEST(Departure, IsNoneWithoutWindowsBefore) {
  EXPECT_FALSE(departure(trial_of({alone({})}), kSpread, 1));
  EXPECT_FALSE(departure(trial_of({alone({}), alone({.rate = 10})}), kSpread, 2));
}

TEST(Departure, NamesWhatIsMeasuredOfEitherSide) {
  const Measured both{.device_s = 1e-4};
  const auto what = [&](const Measured& now) {
    return departure(trial_of({alone(both), alone(now)}), kSpread, 1)->what;
  };
  EXPECT_EQ(what({.rate = 500, .cpu_s = 2e-3, .device_s = 1e-4}), "a sample's cost on the CPU has changed");
  EXPECT_EQ(what({.rate = 500, .device_s = 2e-4}), "a sample's cost on the device has changed");
  EXPECT_EQ(what({.rate = 500, .device_s = 1e-4}), "the rate has changed");
}

// As on a GPU whose training's kernels run beside the loader's.
TEST(Departure, IsNoneOfCostsAloneWhileTheRateStays) {
  const Trial trial = trial_of({alone({.device_s = 1e-4}), alone({.cpu_s = 2e-3, .device_s = 3e-4})});
  EXPECT_FALSE(departure(trial, kSpread, 1));
}

// Half of the first window was still the setting's before, which did other work.
TEST(Departure, IsNotWhatAFirstWindowHasOfTheSettingBefore) {
  const Measured left{.rate = 250, .step_s = 0.2, .cpu_s = 0, .device_s = 4e-4};
  const Measured mixed{.rate = 400, .step_s = 0.15, .cpu_s = 0.5e-3, .device_s = 2e-4};
  EXPECT_FALSE(departure(trial_of({first(mixed, left), alone({}), alone({})}), kSpread, 2));
  EXPECT_FALSE(departure(trial_of({first(mixed, left), alone({})}), kSpread, 1));
  EXPECT_FALSE(departure(trial_of({alone({}), first(mixed, left)}), kSpread, 1));
}

// What was carried over came from a setting whose own window was mixed already, so that what it really costs was not
// seen.
TEST(Departure, IsNotWhatAFirstWindowHasOfAFirstWindowsSetting) {
  const Measured first_left{.step_s = 0.1}, left{.step_s = 0.2}, mixed{.step_s = 0.175}, own{.step_s = 0.05};
  Trial::Window window = first(mixed, left);
  EXPECT_TRUE(departure(trial_of({window, first(own, own), alone(own)}), kSpread, 2));
  window.left_own = own_reading(reading(left), reading(first_left));
  EXPECT_FALSE(departure(trial_of({window, first(own, own), alone(own)}), kSpread, 2));
}

TEST(Departure, IsFoundInAFirstWindowThatTheSettingBeforeCannotExplain) {
  const Measured faster{.rate = 2500, .step_s = 0.04};
  // Each setting was tried once; then steps got shorter, at both.
  const Trial trial = trial_of({first({}, {}), first(faster, {}), alone(faster)});
  const auto found = departure(trial, kSpread, 2);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "the training's own steps have changed");
  EXPECT_LT(found->by, -0.4);
}

TEST(Departure, NeedsItsWindowsInARow) {
  const Trial trial = trial_of({alone({}), alone({.step_s = 0.05}), first({.step_s = 0.05}, {.step_s = 0.05})});
  EXPECT_FALSE(departure(trial, kSpread, 2));
}

}  // namespace
}  // namespace stoker
