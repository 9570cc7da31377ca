#include "stoker/tuner/tuning_words.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stoker {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TunerWindow window(std::int64_t samples, double seconds, double wait_s) {
  return {.samples = samples, .seconds = seconds, .wait_s = wait_s, .step_s = 0, .stages = {}};
}

TEST(TuningWords, WriteNumbersWithThreeDigitsOrAllThatStandBeforeThePoint) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(0.012345), "0.0123");
  EXPECT_EQ(number_text(9.99), "9.99");
  EXPECT_EQ(number_text(12.34), "12.3");
  EXPECT_EQ(number_text(99.96), "100");
  EXPECT_EQ(number_text(1234.5), "1,235");
  EXPECT_EQ(number_text(-1234), "−1,234");
  EXPECT_EQ(number_text(1.5e17), "1.50e+17");
  EXPECT_EQ(number_text(std::nan("")), "–");
  EXPECT_EQ(number_text(kInfinite), "–");
}

TEST(TuningWords, WriteCountsAsTheyAre) {
  EXPECT_EQ(count_text(12), "12");
  EXPECT_EQ(count_text(1281167), "1,281,167");
  EXPECT_EQ(count_text(-3), "−3");
}

TEST(TuningWords, WriteSharesMoreFinelyWhereTheyAreSmall) {
  EXPECT_EQ(share_text(0), "0.0%");
  EXPECT_EQ(share_text(0.0034), "0.3%");
  EXPECT_EQ(share_text(0.0999), "10%");
  EXPECT_EQ(share_text(0.314), "31%");
  EXPECT_EQ(share_text(std::nan("")), "–");
}

TEST(TuningWords, WriteTimesInOneUnitOrTwo) {
  EXPECT_EQ(time_text(0), "0.0 s");
  EXPECT_EQ(time_text(12.34), "12.3 s");
  EXPECT_EQ(time_text(59.97), "1 min 00 s");
  EXPECT_EQ(time_text(200), "3 min 20 s");
  EXPECT_EQ(time_text(3840), "1 h 04 min");
  EXPECT_EQ(time_text(90000), "1 d 01 h");
  EXPECT_EQ(time_text(1e300), "1.00e+300 s");
  EXPECT_EQ(time_text(kInfinite), "–");
}

TEST(TuningWords, SayOfAWindowWhatItTells) {
  EXPECT_EQ(rate_of(window(50, 10, 0)), 5);
  EXPECT_EQ(rate_of(window(0, 10, 0)), 0);
  EXPECT_EQ(wait_share_of(window(50, 10, 2.5)), 0.25);
  EXPECT_EQ(wait_share_of(window(50, 10, 10.1)), 1);  // two clocks
  for (const TunerWindow& odd : {window(50, 0, 0), window(50, -1, 0), window(50, std::nan(""), 0)}) {
    EXPECT_TRUE(std::isnan(rate_of(odd)));
    EXPECT_TRUE(std::isnan(wait_share_of(odd)));
  }
  EXPECT_TRUE(std::isnan(rate_of(window(-1, 10, 0))));
  EXPECT_TRUE(std::isnan(rate_of(window(50, 1e-320, 0))));  // no number is that large
  EXPECT_TRUE(std::isnan(wait_share_of(window(50, 10, -1))));
}

TEST(TuningWords, NameTheKnobsThatThereAre) {
  EXPECT_EQ(knobs_text({.threads = 1, .transfer_index = 0, .prefetch = 2, .io_depth = 3}, true),
            "1 thread at index 0, prefetch 2, I/O depth 3");
  EXPECT_EQ(knobs_text({.threads = 6, .transfer_index = 2, .prefetch = 4, .io_depth = 32}, true),
            "6 threads at index 2, prefetch 4, I/O depth 32");
  EXPECT_EQ(knobs_text({.threads = 6, .transfer_index = 3, .prefetch = 4, .io_depth = 32}, false),
            "6 threads, prefetch 4, I/O depth 32");
}

}  // namespace
}  // namespace stoker
