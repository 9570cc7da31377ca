#include "stoker/tuner/settled_watch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker {
namespace {

constexpr double kSpread = 0.01;

WindowReading reading(double wait_share, double rate = 1000, double step_s = 0.01, double cpu_s = 1e-3) {
  return {std::log(rate), std::log(step_s), wait_share, std::log(cpu_s), std::log(kNoSeconds)};
}

SettledWatch watch_of(const WindowReading& was) {
  Trial trial;
  for (int i = 0; i < 8; ++i) trial.windows.push_back({was});
  SettledWatch watch;
  watch.begin(trial, kSpread);
  return watch;
}

// The windows until something is found, up to 20; and what.
int windows_until(SettledWatch& watch, const WindowReading& now, int threads, std::optional<Departure>& found) {
  for (int windows = 1; windows <= 20; ++windows) {
    found = watch.see(now, threads, kSpread);
    if (found) return windows;
  }
  return 0;
}

TEST(SettledWatch, FindsWhatChangedWithinAFewWindows) {
  std::optional<Departure> found;
  SettledWatch same = watch_of(reading(0.2));
  EXPECT_EQ(windows_until(same, reading(0.2), 4, found), 0);
  SettledWatch slower = watch_of(reading(0.2));
  EXPECT_LE(windows_until(slower, reading(0.2, 800), 4, found), 5);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, kWatchedParts[3].what);
  EXPECT_LT(found->by, -0.03);
}

TEST(SettledWatch, NamesWhatExplainsTheRest) {
  std::optional<Departure> found;
  SettledWatch watch = watch_of(reading(0.2));
  windows_until(watch, reading(0.2, 500, 0.02), 4, found);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, kWatchedParts[0].what);
}

TEST(SettledWatch, DoesNotMindDearerSamplesWhereTrainingDoesNotWait) {
  std::optional<Departure> found;
  SettledWatch fed = watch_of(reading(0));
  EXPECT_EQ(windows_until(fed, reading(0, 1000, 0.01, 1.3e-3), 4, found), 0);
  SettledWatch cheaper = watch_of(reading(0));
  EXPECT_GT(windows_until(cheaper, reading(0, 1000, 0.01, 0.7e-3), 4, found), 0);  // fewer threads may do
  SettledWatch of_one = watch_of(reading(0));
  EXPECT_EQ(windows_until(of_one, reading(0, 1000, 0.01, 0.7e-3), 1, found), 0);
  SettledWatch waiting = watch_of(reading(0.2));
  EXPECT_GT(windows_until(waiting, reading(0.2, 1000, 0.01, 1.3e-3), 4, found), 0);
}

TEST(SettledWatch, LooksElsewhereEverMoreRarelyWhileTrainingWaits) {
  const auto until_probe = [](SettledWatch& watch, double wait_share) {
    for (int windows = 1;; ++windows) {
      if (const auto unchanged = watch.probe_due(reading(wait_share))) return *unchanged == windows ? windows : -1;
    }
  };
  SettledWatch waiting = watch_of(reading(0.2)), fed = watch_of(reading(0));
  for (const int windows : {40, 80, 160, 160}) EXPECT_EQ(until_probe(waiting, 0.2), windows);
  for (const int windows : {90, 90}) EXPECT_EQ(until_probe(fed, 0), windows);
}

}  // namespace
}  // namespace stoker
