#include "stoker/doctor/probe/noise_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "stoker/base/child_testing.h"
#include "stoker/base/clock.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr const char* kStat =
    "cpu  300 0 100 1000 40 0 20 60 0 0\n"
    "cpu0 100 0 50 400 20 0 10 30 0 0\n"
    "cpu1 200 0 50 600 20 0 10 30 0 0\n"
    "intr 12345 0 1\n";

double ticks(double count) { return count / static_cast<double>(::sysconf(_SC_CLK_TCK)); }

TEST(CpuTimes, AreThoseOfTheCoresAskedFor) {
  const CpuTimes one = parse_cpu_times(kStat, {1});
  EXPECT_DOUBLE_EQ(one.busy, ticks(260));
  EXPECT_DOUBLE_EQ(one.idle, ticks(620));
  EXPECT_DOUBLE_EQ(one.stolen, ticks(30));
  EXPECT_DOUBLE_EQ(parse_cpu_times(kStat, {0, 1}).busy, ticks(420));
  EXPECT_DOUBLE_EQ(parse_cpu_times(kStat, {}).busy, ticks(420)) << "of all cores";
  EXPECT_DOUBLE_EQ(parse_cpu_times(kStat, {7}).stolen, ticks(60)) << "the kernel does not list that core";
  EXPECT_DOUBLE_EQ(parse_cpu_times("", {0}).idle, 0);
}

TEST(MachineNoise, IsWhatOthersTakeOfTheCoresThatCount) {
  const CpuTimes before, after{.busy = 15, .idle = 4, .stolen = 1};
  // Two cores for 10 s, of which this process had 9 s and others 6 s.
  const MachineNoise both = MachineNoise::between(before, after, 10, 9, 2, 2);
  EXPECT_DOUBLE_EQ(both.stolen_share, 0.05);
  EXPECT_NEAR(both.others_cores, 0.6, 1e-9);
  // Under a quota of one and a half cores others have half a core that this process cannot use.
  EXPECT_NEAR(MachineNoise::between(before, after, 10, 9, 1.5, 2).others_cores, 0.1, 1e-9);
  EXPECT_DOUBLE_EQ(MachineNoise::between(before, after, 10, 9, 1, 2).others_cores, 0);
  EXPECT_DOUBLE_EQ(MachineNoise::between(before, after, 10, 16, 2, 2).others_cores, 0) << "clocks differ a little";
}

TEST(NoiseWatch, DoubtsWhatWasMeasuredOnABusyMachine) {
  MachineFacts quiet{.cores = 2, .stolen_share = 0.01, .others_cores = 0.05};
  EXPECT_FALSE(quiet.too_noisy());
  MachineFacts busy{.cores = 2, .stolen_share = 0.1, .others_cores = 0.5};
  EXPECT_TRUE(busy.too_noisy());
  std::vector<std::string> doubts;
  doubt_noise(quiet, doubts);
  EXPECT_TRUE(doubts.empty());
  doubt_noise(busy, doubts);
  ASSERT_EQ(doubts.size(), 2u);
  EXPECT_THAT(doubts[0], HasSubstr("10%"));
  EXPECT_THAT(doubts[1], HasSubstr("0.5 of 2 cores"));
}

TEST(NoiseWatch, TakesChildrenThatHaveEndedForThisProcess) {
  constexpr std::int64_t kBurntNs = 100'000'000;
  const std::int64_t before_ns = own_cpu_ns();
  const int status = status_in_child([] {
    while (process_cpu_ns() < kBurntNs) continue;
    return 0;
  });
  ASSERT_EQ(status, 0);
  EXPECT_GE(own_cpu_ns() - before_ns, kBurntNs / 2) << "the system may count in ticks";
}

TEST(NoiseWatch, FillsInSharesOfThisMachine) {
  MachineFacts machine{.cores = 1};
  std::vector<std::string> doubts;
  NoiseWatch().report(machine, doubts);
  EXPECT_GE(machine.stolen_share, 0);
  EXPECT_LE(machine.stolen_share, 1);
  EXPECT_GE(machine.others_cores, 0);
  EXPECT_LE(machine.others_cores, 1);
}

}  // namespace
}  // namespace stoker
