#include "cli/progress.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(ProgressLine, TellsRateAndTimeLeft) {
  EXPECT_EQ(progress_line("run", "samples", 25'600, 102'400, 64),
            "run: 25,600 of 102,400 samples (25%), 400 samples/s, 3 min 12 s left");
}

TEST(ProgressLine, ShowsADecimalOfSlowRates) {
  EXPECT_EQ(progress_line("synth", "images", 5, 10, 4), "synth: 5 of 10 images (50%), 1.2 images/s, 4.0 s left");
}

TEST(ProgressLine, ClaimsNothingBeforeTheFirstSample) {
  EXPECT_EQ(progress_line("run", "samples", 0, 10, 4), "run: 0 of 10 samples (0%)");
  EXPECT_EQ(progress_line("run", "samples", 0, 0, 0), "run: 0 of 0 samples (0%)");
}

TEST(ProgressLine, ReckonsFromWhatThisCallDid) {
  EXPECT_EQ(progress_line("pack", "samples", 900, 1'000, 10, 850),
            "pack: 900 of 1,000 samples (90%), 5.0 samples/s, 20 s left");
  EXPECT_EQ(progress_line("pack", "samples", 850, 1'000, 10, 850), "pack: 850 of 1,000 samples (85%)");
}

TEST(ProgressLine, LeavesTheTimeLeftOutAtTheEnd) {
  EXPECT_EQ(progress_line("run", "samples", 100, 100, 2), "run: 100 of 100 samples (100%), 50 samples/s");
}

}  // namespace
}  // namespace stoker
