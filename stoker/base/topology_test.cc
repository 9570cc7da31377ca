#include "stoker/base/topology.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <numeric>
#include <thread>

#include "stoker/base/topology_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<int> first_cores(int count) {
  std::vector<int> cores(static_cast<std::size_t>(count));
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}

NearCores near(const std::string& bus_id, const std::vector<int>& allowed) {
  static const std::string xml =
      machine_xml({{{0, 1, 2, 3}, "0000:3b:00.0"}, {{4, 5, 6, 7}, "0000:af:00.0"}}, "0000:d8:00.0");
  return cores_near(bus_id, xml, allowed);
}

TEST(Topology, KnowsTheCoresOfADevicesOwnSocket) {
  EXPECT_THAT(near("0000:3b:00.0", first_cores(8)).cores, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(near("0000:af:00.0", first_cores(8)).cores, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(near("0000:AF:00.0", first_cores(8)).cores, ElementsAre(4, 5, 6, 7)) << "as CUDA spells it";
  EXPECT_EQ(near("0000:af:00.0", first_cores(8)).account,
            "4 of 8 cores are near the device 0000:af:00.0: threads run on 4, 5, 6, 7");
}

TEST(Topology, KnowsCoresWhoseNumbersAreLarge) {
  const std::string xml =
      machine_xml({{{3, 31, 32}, "0000:3b:00.0"}, {{64, 100, 191}, "0000:af:00.0"}}, "0001:d8:00.0");
  const std::vector<int> all = {3, 31, 32, 64, 100, 191};
  EXPECT_THAT(cores_near("0000:3b:00.0", xml, all).cores, ElementsAre(3, 31, 32));
  EXPECT_THAT(cores_near("0000:af:00.0", xml, all).cores, ElementsAre(64, 100, 191));
}

TEST(Topology, KeepsToTheCoresThatMayBeUsed) {
  EXPECT_THAT(near("0000:3b:00.0", {1, 2, 6}).cores, ElementsAre(1, 2));
  EXPECT_THAT(near("0000:af:00.0", {1, 2, 6}).cores, ElementsAre(6));
}

TEST(Topology, ChangesNothingWhereNoneOrAllAreNear) {
  const NearCores none = near("0000:af:00.0", {0, 1, 2});
  EXPECT_THAT(none.cores, IsEmpty());
  EXPECT_THAT(none.account, "0 of 3 cores are near the device 0000:af:00.0: threads run on any core");
  EXPECT_THAT(near("0000:af:00.0", {5, 7}).cores, IsEmpty());
  EXPECT_THAT(near("0000:d8:00.0", first_cores(8)).cores, IsEmpty()) << "of the whole machine";
}

TEST(Topology, ChangesNothingForADeviceThatIsNotKnown) {
  for (const char* bus_id : {"0000:01:00.0", "", "cuda:0", "0000:3b:00", "zzzz:3b:00.0"}) {
    const NearCores cores = near(bus_id, first_cores(8));
    EXPECT_THAT(cores.cores, IsEmpty()) << bus_id;
    EXPECT_THAT(cores.account, HasSubstr("cannot find out"));
  }
  EXPECT_THAT(cores_near("0000:3b:00.0", "no XML", first_cores(8)).cores, IsEmpty());
  EXPECT_THAT(cores_near("ffff:ff:1f.7").cores, IsEmpty()) << "of this machine";
}

TEST(Topology, KnowsTheDevicesOfThisMachine) {
  std::error_code none;
  int known = 0;
  for (const auto& device : std::filesystem::directory_iterator("/sys/bus/pci/devices", none)) {
    const std::string bus_id = device.path().filename();
    EXPECT_THAT(cores_near(bus_id).account, HasSubstr("cores are near the device " + bus_id));
    ++known;
  }
  if (known == 0) GTEST_SKIP() << "it has no PCI bus";
}

TEST(Topology, AThreadRunsOnTheCoresThatItIsGiven) {
  const std::vector<int> before = allowed_cores();
  ASSERT_FALSE(before.empty());
  std::thread([&] {
    EXPECT_EQ(allowed_cores(), before);
    EXPECT_TRUE(run_on({}));
    EXPECT_EQ(allowed_cores(), before);
    EXPECT_TRUE(run_on(std::span(before).last(1)));
    EXPECT_THAT(allowed_cores(), ElementsAre(before.back()));
    const int nowhere[] = {16'000};
    EXPECT_FALSE(run_on(nowhere));
    EXPECT_THAT(allowed_cores(), ElementsAre(before.back()));
  }).join();
  EXPECT_EQ(allowed_cores(), before) << "of other threads";
}

}  // namespace
}  // namespace stoker
