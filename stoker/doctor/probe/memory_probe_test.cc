#include "stoker/doctor/probe/memory_probe.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;

TEST(MemoryCopiers, AreAsManyAsTheCoresThatAQuotaLeaves) {
  const MemoryCopiers copiers = memory_copiers(2, 2 * kGiB);
  EXPECT_EQ(copiers.threads, 2);
  EXPECT_EQ(copiers.cores, 2);
}

TEST(MemoryCopiers, HaveBuffersThatTheMemoryHasRoomFor) {
  const MemoryCopiers copiers = memory_copiers(64, 2 * kGiB);
  EXPECT_EQ(copiers.threads, 4) << "64 MiB each";
  EXPECT_EQ(copiers.cores, 4);
  EXPECT_EQ(memory_copiers(64, kGiB / 8).threads, 1) << "none would measure nothing";
}

TEST(MemoryCopiers, StandForAllCoresWhereTheySaturateTheMemory) {
  const MemoryCopiers copiers = memory_copiers(128, 1024 * kGiB);
  EXPECT_EQ(copiers.threads, 64);
  EXPECT_EQ(copiers.cores, 128);
}

}  // namespace
}  // namespace stoker
