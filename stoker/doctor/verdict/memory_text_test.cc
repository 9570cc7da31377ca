#include "stoker/doctor/verdict/memory_text.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(MemoryText, NeverSaysThatThereIsNone) {
  EXPECT_EQ(memory_text(64ull << 30), "64 GiB");
  EXPECT_EQ(memory_text(25'300'000'000), "24 GiB");
  EXPECT_EQ(memory_text(1ull << 30), "1 GiB");
  EXPECT_EQ(memory_text(256'000'000), "244 MiB");
}

}  // namespace
}  // namespace stoker
