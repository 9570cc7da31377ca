#include "stoker/codec/jpeg/entry_points.h"

#include <gtest/gtest.h>

#include "stoker/base/noise_testing.h"

namespace stoker {
namespace {

bool same(const EntryPoints& a, const EntryPoints& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const EntryPoint& x, const EntryPoint& y) { return x.bit == y.bit && x.dc == y.dc; });
}

EntryPoints random_points(Noise& noise, int count, int distance_max, int dc_max) {
  EntryPoints points(1);
  for (int i = 1; i < count; ++i) {
    EntryPoint point{.bit = points.back().bit + static_cast<std::uint64_t>(noise.between(1, distance_max)), .dc = {}};
    for (std::int16_t& dc : point.dc) dc = static_cast<std::int16_t>(noise.between(-dc_max, dc_max));
    points.push_back(point);
  }
  return points;
}

TEST(PackedEntryPoints, ComeBackAsTheyWerePacked) {
  Noise noise(1);
  for (const int count : {1, 2, 3, 50, 1000}) {
    for (const int distance : {1, 2, 3000, 1 << 22}) {
      for (const int dc : {0, 1, 500, 32'767}) {
        const EntryPoints points = random_points(noise, count, distance, dc);
        std::vector<std::uint8_t> packed;
        pack_entry_points(points, 12'345, packed);
        EntryPoints again;
        ASSERT_TRUE(unpack_entry_points(packed, 12'345, again)) << count << ", " << distance << ", " << dc;
        EXPECT_TRUE(same(again, points)) << count << ", " << distance << ", " << dc;
      }
    }
  }
}

TEST(PackedEntryPoints, OfATypicalPhotographTakeFiveBytesEach) {
  Noise noise(2);
  std::vector<std::uint8_t> packed;
  pack_entry_points(random_points(noise, 390, 4000, 120), 110'000, packed);
  EXPECT_LT(packed.size(), 390u * 5);
}

TEST(PackedEntryPoints, AreRefusedWithAnyByteChangedOrMissingOrForAnotherFile) {
  Noise noise(3);
  const EntryPoints points = random_points(noise, 40, 3000, 200);
  std::vector<std::uint8_t> packed;
  pack_entry_points(points, 5000, packed);
  EntryPoints again;
  EXPECT_FALSE(unpack_entry_points(packed, 5001, again));
  EXPECT_FALSE(unpack_entry_points({}, 5000, again));
  for (std::size_t i = 0; i < packed.size(); ++i) {
    EXPECT_FALSE(unpack_entry_points(Bytes(packed).first(i), 5000, again)) << i;
    packed[i] ^= 0x10;
    EXPECT_FALSE(unpack_entry_points(packed, 5000, again)) << i;
    packed[i] ^= 0x10;
  }
  EXPECT_TRUE(unpack_entry_points(packed, 5000, again));
}

}  // namespace
}  // namespace stoker
