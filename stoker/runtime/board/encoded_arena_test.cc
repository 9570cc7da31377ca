#include "stoker/runtime/board/encoded_arena.h"

#include <gtest/gtest.h>

#include <algorithm>
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
    if (step % 500 == 0) arena.expect(random.below(12'000));
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

// The bytes of memory that a thousand grants touched, of which the last three were held.
std::size_t touched_by_three_at_once(EncodedArena& arena) {
  std::deque<EncodedArena::Grant> held;
  const std::uint8_t *begin = nullptr, *end = nullptr;
  for (int step = 0; step < 1000; ++step) {
    held.push_back(arena.grant(3000));
    const MutableBytes bytes = held.back().bytes;
    begin = begin ? std::min<const std::uint8_t*>(begin, bytes.data()) : bytes.data();
    end = std::max<const std::uint8_t*>(end, bytes.data() + bytes.size());
    EXPECT_LE(arena.used(), held.size() * EncodedArena::in_units(3000));
    if (held.size() == 3) {
      arena.release(held.front());
      held.pop_front();
    }
  }
  for (const EncodedArena::Grant& grant : held) arena.release(grant);
  return static_cast<std::size_t>(end - begin);
}

TEST(EncodedArena, IsAShortRingWhileLittleIsExpected) {
  EncodedArena arena(1'000'000, host_allocator());
  arena.expect(10'000);
  EXPECT_LE(touched_by_three_at_once(arena), 2 * 10'000u + 3000);
  arena.expect(100'000);
  EXPECT_GT(touched_by_three_at_once(arena), 50'000u);
}

TEST(EncodedArena, KeepsTheOrderOfPlaces) {
  EncodedArena arena(100'000, host_allocator());
  arena.expect(10'000);
  std::uint64_t before = 0;
  std::deque<EncodedArena::Grant> held;
  for (int step = 0; step < 200; ++step) {
    held.push_back(arena.grant(1000));
    EXPECT_EQ(held.back().place, step == 0 ? 0 : before + EncodedArena::in_units(1000));
    before = held.back().place;
    EXPECT_EQ(arena.front(), held.front().place);
    if (held.size() < 5) continue;
    arena.release(held.front());
    held.pop_front();
  }
  for (const EncodedArena::Grant& grant : held) arena.release(grant);
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
