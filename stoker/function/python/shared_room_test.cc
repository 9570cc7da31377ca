#include "stoker/function/python/shared_room.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "stoker/base/error.h"

namespace stoker {
namespace {

TEST(SharedRoom, GrowsWhereItIsAndGivesEverythingBack) {
  SharedRoom room("test");
  room.reserve(100);
  std::uint8_t* const begin = room.data();
  begin[0] = 7;
  room.reserve(std::size_t{64} << 20);
  EXPECT_EQ(room.data(), begin);
  EXPECT_EQ(begin[0], 7);
  begin[(std::size_t{64} << 20) - 1] = 9;
  std::uint8_t read = 0;
  ASSERT_EQ(::pread(room.descriptor(), &read, 1, (std::size_t{64} << 20) - 1), 1);
  EXPECT_EQ(read, 9);
  room.clear();
  EXPECT_EQ(room.size(), 0);
  room.reserve(100);
  EXPECT_EQ(begin[0], 0);
  EXPECT_THROW(room.reserve(SharedRoom::kMost + 1), Error);
}

}  // namespace
}  // namespace stoker
