#include "stoker/storage/pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace stoker {
namespace {

using ::testing::ElementsAre;

struct Memory {
  std::array<std::uint8_t, 4> a{}, b{};
  std::vector<MutableBytes> pieces{a, hole(3), MutableBytes(), hole(5), b, hole(2)};
};

/// The sizes of what gather() describes.
std::vector<std::size_t> gathered(const PieceCursor& place, std::size_t entries_max, std::size_t sink,
                                  std::uint64_t bytes_max = 1000) {
  std::vector<iovec> entries(entries_max);
  std::vector<std::uint8_t> trash(sink);
  entries.resize(place.gather(entries, trash, bytes_max));
  std::vector<std::size_t> sizes;
  for (const iovec& entry : entries) sizes.push_back(entry.iov_len);
  return sizes;
}

TEST(Pieces, AreAsLongAsTheirSumHolesIncluded) { EXPECT_EQ(length_of(Memory().pieces), 4u + 3 + 5 + 4 + 2); }

TEST(Pieces, WithoutBytesAreNoHoles) {
  EXPECT_FALSE(is_hole(MutableBytes()));
  EXPECT_TRUE(is_hole(hole(1)));
}

TEST(PieceCursor, FillsTheMemoryAroundTheHoles) {
  Memory memory;
  std::vector<std::uint8_t> bytes(18);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    memory.a = memory.b = {};
    PieceCursor place(memory.pieces);
    for (std::size_t i = 0; i < bytes.size(); i += step) {
      place.copy_from(Bytes(bytes).subspan(i, std::min(step, bytes.size() - i)));
    }
    EXPECT_TRUE(place.at_end());
    EXPECT_THAT(memory.a, ElementsAre(0, 1, 2, 3)) << step;
    EXPECT_THAT(memory.b, ElementsAre(12, 13, 14, 15)) << step;
  }
}

TEST(PieceCursor, TakesNeighbouringHolesForOne) {
  const Memory memory;
  PieceCursor place(memory.pieces);
  EXPECT_EQ(place.hole_to_pass(0), 0u) << "here is memory";
  EXPECT_EQ(place.stretch(7), 4u);
  EXPECT_EQ(place.stretch(8), 16u) << "up to the hole at the end";
  place.pass(6);
  EXPECT_EQ(place.hole_to_pass(5), 6u);
  EXPECT_EQ(place.hole_to_pass(6), 0u) << "short enough to be read";
}

TEST(PieceCursor, PassesTheHoleAtTheEndHoweverShort) {
  const Memory memory;
  PieceCursor place(memory.pieces);
  place.pass(16);
  EXPECT_EQ(place.hole_to_pass(1000), 2u);
  place.pass(100);
  EXPECT_TRUE(place.at_end());
}

TEST(PieceCursor, GathersShortHolesAndStopsAtLongOnes) {
  const Memory memory;
  PieceCursor place(memory.pieces);
  EXPECT_THAT(gathered(place, 10, 7), ElementsAre(4));
  EXPECT_THAT(gathered(place, 10, 8), ElementsAre(4, 3, 5, 4));
  EXPECT_THAT(gathered(place, 3, 8), ElementsAre(4, 3, 5));
  EXPECT_THAT(gathered(place, 10, 8, 6), ElementsAre(4, 2));
  place.pass(1);
  EXPECT_THAT(gathered(place, 10, 7), ElementsAre(3));
}

TEST(PieceCursor, StandsAtTheEndOfNothing) {
  EXPECT_TRUE(PieceCursor().at_end());
  const std::array<MutableBytes, 2> empty{};
  EXPECT_TRUE(PieceCursor(empty).at_end());
  EXPECT_EQ(PieceCursor(empty).hole_to_pass(0), 0u);
}

}  // namespace
}  // namespace stoker
