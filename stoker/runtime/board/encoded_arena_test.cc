#include "stoker/runtime/board/encoded_arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>

#include "stoker/base/random.h"

namespace stoker {
namespace {

TEST(EncodedArena, KeepsGrantsApartInAnyOrderOfReturn) {
  EncodedArena arena(10'000, host_allocator());
  Random random(1, 0, 0, 0);
  struct Held {
    EncodedArena::Grant grant;
    std::uint8_t mark;
  };
  std::deque<Held> held;
  std::uint8_t mark = 0;
  int refused = 0;
  for (int step = 0; step < 50'000; ++step) {
    const std::size_t bytes = random.below(3000);
    if (arena.fits(bytes)) {
      held.push_back({arena.grant(bytes), ++mark});
      ASSERT_EQ(held.back().grant.bytes.size(), bytes);
      std::memset(held.back().grant.bytes.data(), mark, bytes);
    } else {
      ++refused;
      ASSERT_FALSE(held.empty());
      const auto at = static_cast<std::ptrdiff_t>(random.below(held.size()));
      const Held back = held[static_cast<std::size_t>(at)];
      for (const std::uint8_t byte : back.grant.bytes) ASSERT_EQ(byte, back.mark);
      arena.release(back.grant);
      held.erase(held.begin() + at);
    }
    ASSERT_LE(arena.used(), arena.capacity());
  }
  EXPECT_GT(refused, 1000);
  while (!held.empty()) {
    arena.release(held.front().grant);
    held.pop_front();
  }
  EXPECT_TRUE(arena.empty());
  EXPECT_EQ(arena.used(), 0u);
}

TEST(EncodedArena, LetsOneLargerThanItselfThroughAlone) {
  EncodedArena arena(1000, host_allocator());
  const auto small = arena.grant(100);
  EXPECT_FALSE(arena.fits(5000));
  arena.release(small);
  ASSERT_TRUE(arena.fits(5000));
  const auto large = arena.grant(5000);
  std::memset(large.bytes.data(), 1, large.bytes.size());
  EXPECT_FALSE(arena.fits(1000));
  arena.release(large);
  arena.release(arena.grant(10));  // back to its own size
  EXPECT_FALSE([&] {
    const auto first = arena.grant(10);
    const bool fits = arena.fits(2000);
    arena.release(first);
    return fits;
  }());
}

TEST(EncodedArena, GrantsNothingAsWell) {
  EncodedArena arena(1000, host_allocator());
  const auto first = arena.grant(0), second = arena.grant(0);
  EXPECT_EQ(first.bytes.size(), 0u);
  EXPECT_FALSE(arena.empty());
  arena.release(second);
  arena.release(first);
  EXPECT_TRUE(arena.empty());
}

}  // namespace
}  // namespace stoker
