#include "stoker/base/freed_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "stoker/base/sanitizers.h"

namespace stoker {
namespace {

std::size_t resident() {
  std::ifstream pages("/proc/self/statm");
  std::size_t all = 0, here = 0;
  pages >> all >> here;
  return here * 4096;
}

void* touched(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  std::memset(memory, 1, bytes);
  return memory;
}

TEST(FreedMemory, OfAThreadGoesBackToTheMachine) {
#if STOKER_ADDRESS_SANITIZER || STOKER_THREAD_SANITIZER
  GTEST_SKIP() << "sanitizers keep what was freed";
#endif
  std::thread([] {
    constexpr std::size_t kBlock = 20u << 20;
    std::free(touched(kBlock));  // from here on malloc keeps blocks of this size
    const std::size_t before = resident();
    std::free(touched(kBlock));
    ASSERT_GE(resident(), before + kBlock * 9 / 10);  // or else there is nothing to do, and no such function
    release_freed(kBlock);
    EXPECT_LE(resident(), before + kBlock / 5);
    void* const again = touched(kBlock);
    EXPECT_EQ(static_cast<unsigned char*>(again)[kBlock / 2], 1);
    std::free(again);
  }).join();
}

}  // namespace
}  // namespace stoker
