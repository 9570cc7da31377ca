#include "stoker/runtime/tuning/tuning_window.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr int kBatch = 32;
constexpr std::int64_t kMs = 1'000'000;
constexpr TuningWindowLimits kShort = {
    .seconds_least_ns = 100 * kMs, .seconds_most_ns = 1000 * kMs, .batches_least = 8, .error_most = 0.01};

BatchPeriod period(std::int64_t step_ms, std::int64_t wait_ms, std::int64_t made = kBatch) {
  return {.step_ns = step_ms * kMs, .wait_ns = wait_ms * kMs, .made = made};
}

TuningWindow begun(int skip = 0) {
  TuningWindow window(kBatch);
  window.begin(skip, kShort);
  return window;
}

TEST(TuningWindow, TellsTheRateTheWaitAndTheStep) {
  TuningWindow window = begun();
  for (int i = 0; i < 10; ++i) window.add(period(15, 5));
  const TuningWindow::Result result = window.result();
  EXPECT_DOUBLE_EQ(result.samples, 10 * kBatch);
  EXPECT_DOUBLE_EQ(result.seconds, 0.2);
  EXPECT_DOUBLE_EQ(result.wait_s, 0.05);
  EXPECT_DOUBLE_EQ(result.step_s, 0.015);
}

TEST(TuningWindow, LeavesOutWhatIsOfTheKnobsBefore) {
  TuningWindow window = begun(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(window.counts());
    window.add(period(1000, 1000, 5));
  }
  EXPECT_TRUE(window.counts());
  window.add(period(10, 0));
  EXPECT_DOUBLE_EQ(window.result().seconds, 0.01);
  EXPECT_EQ(window.made(), kBatch);
  EXPECT_EQ(window.delivered(), 1);
}

TEST(TuningWindow, IsCompleteWithEnoughBatchesAndEnoughTime) {
  TuningWindow few = begun();
  for (int i = 0; i < 7; ++i) few.add(period(100, 0));
  EXPECT_FALSE(few.complete()) << "700 ms, but 7 batches";
  few.add(period(100, 0));
  EXPECT_TRUE(few.complete());

  TuningWindow brief = begun();
  for (int i = 0; i < 99; ++i) brief.add(period(1, 0));
  EXPECT_FALSE(brief.complete()) << "99 batches, but 99 ms";
  brief.add(period(1, 0));
  EXPECT_TRUE(brief.complete());
}

TEST(TuningWindow, TakesLongerWherePeriodsDiffer) {
  TuningWindow window = begun();
  int batches = 0;
  while (!window.complete()) {
    window.add(period(10 + 10 * (batches / 2 % 2), 0));  // two short ones, two long ones
    ++batches;
  }
  EXPECT_GT(batches, 8);
  EXPECT_LE(window.result().seconds, 1.02) << "but no longer than is permitted";
}

TEST(TuningWindow, TakesWhatOneBatchIsLateAndTheNextEarlyForTheSame) {
  TuningWindow window = begun();
  for (int i = 0; i < 10; ++i) window.add(i % 2 == 0 ? period(10, 8) : period(10, 0));
  EXPECT_TRUE(window.complete()) << "pairs of them are all alike";
}

TEST(TuningWindow, DoesNotCountWhenTheConsumerDidSomethingElse) {
  TuningWindow window = begun();
  for (int i = 0; i < 10; ++i) window.add(period(10, 10));
  window.add(period(30'000, 0, 2 * kBatch));  // it evaluated
  const TuningWindow::Result result = window.result();
  EXPECT_DOUBLE_EQ(result.seconds, 0.2);
  EXPECT_DOUBLE_EQ(result.step_s, 0.01);
  EXPECT_EQ(window.made(), 12 * kBatch) << "the CPU was at work on it";
  EXPECT_EQ(window.delivered(), 11);
}

TEST(TuningWindow, SeesThroughBatchesThatWereMadeBefore) {
  // The consumer never waits, but each batch of 10 ms takes 20 ms to make: five were there before.
  TuningWindow window = begun();
  for (int i = 0; i < 10; ++i) window.add(period(10, 0, kBatch / 2));
  const TuningWindow::Result result = window.result();
  EXPECT_DOUBLE_EQ(result.samples, 5 * kBatch);
  EXPECT_DOUBLE_EQ(result.seconds, 0.1);
  EXPECT_DOUBLE_EQ(result.wait_s, 0.05) << "half of the time, if that went on";
  EXPECT_DOUBLE_EQ(result.step_s, 0.01);
}

TEST(TuningWindow, TakesLittleMoreOrLessForChance) {
  TuningWindow window = begun();
  for (int i = 0; i < 10; ++i) window.add(period(10, 0, i == 4 ? kBatch - kBatch / 4 : kBatch));
  EXPECT_DOUBLE_EQ(window.result().samples, 10 * kBatch);
  EXPECT_DOUBLE_EQ(window.result().wait_s, 0);
}

TEST(TuningWindow, DoesNotTakeBatchesMadeAheadForARate) {
  TuningWindow window = begun();
  for (int i = 0; i < 10; ++i) window.add(period(10, 0, 2 * kBatch));
  EXPECT_DOUBLE_EQ(window.result().samples, 10 * kBatch) << "training takes no more than that";
}

TEST(TuningWindow, BeginsAnew) {
  TuningWindow window = begun();
  for (int i = 0; i < 10; ++i) window.add(period(20, 0));
  window.begin(0, kShort);
  EXPECT_FALSE(window.complete());
  window.add(period(5, 5));
  EXPECT_DOUBLE_EQ(window.result().seconds, 0.01);
  EXPECT_EQ(window.delivered(), 1);
}

}  // namespace
}  // namespace stoker
