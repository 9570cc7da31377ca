#include "stoker/tensor/allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/rounds_testing.h"

namespace stoker {
namespace {

TEST(HostAllocator, GivesAlignedMemoryOfEverySize) {
  for (const std::size_t bytes :
       {1u, 63u, 4096u, (1u << 20) - 1, 1u << 20, (4u << 20) - 1, 4u << 20, (6u << 20) + 77}) {
    const Memory memory(host_allocator(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0u) << bytes;
    std::memset(memory.data(), 1, bytes);  // all of it is there, as AddressSanitizer sees it too
  }
}

TEST(HostAllocator, GivesLargeBlocksBackToTheMachine) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep what was freed";
  const auto resident = [] {
    std::ifstream pages("/proc/self/statm");
    std::size_t all = 0, here = 0;
    pages >> all >> here;
    return here * 4096;
  };
  constexpr std::size_t kBlock = 3u << 20, kBlocks = 32;
  const auto touched = [] {
    Memory memory(host_allocator(), kBlock);
    std::memset(memory.data(), 1, kBlock);
    return memory;
  };
  touched();  // malloc would take the next ones for blocks to keep
  const std::size_t before = resident();
  {
    std::vector<Memory> blocks;
    for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(touched());
    EXPECT_GE(resident(), before + kBlocks * kBlock);
    const Memory last = std::move(blocks.back());  // and could not give back what lies below one in use
    blocks.clear();
    EXPECT_LE(resident(), before + 2 * kBlock);
  }
}

TEST(HostAllocator, SaysWhenTheMachineHasNoMore) {
  try {
    const Memory memory(host_allocator(), std::size_t{1} << 60);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kMemory);
    EXPECT_THAT(error.what(), testing::HasSubstr("no 1153 PB of memory left"));
  }
}

TEST(Memory, MovesItsAllocation) {
  Memory from(host_allocator(), 100);
  std::uint8_t* const data = from.data();
  Memory to(std::move(from));
  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(to.size(), 100u);
  EXPECT_EQ(from.data(), nullptr);  // NOLINT(bugprone-use-after-move): that it is empty is what is tested
}

}  // namespace
}  // namespace stoker
