#include "stoker/codec/jpeg/entry_points.h"

#include <gtest/gtest.h>

#include <limits>

#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
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
        ASSERT_TRUE(unpack_entry_points(packed, 12'345, points.size(), again))
            << count << ", " << distance << ", " << dc;
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
  EXPECT_FALSE(unpack_entry_points(packed, 5001, 40, again));
  EXPECT_FALSE(unpack_entry_points({}, 5000, 40, again));
  for (std::size_t i = 0; i < packed.size(); ++i) {
    EXPECT_FALSE(unpack_entry_points(Bytes(packed).first(i), 5000, 40, again)) << i;
    packed[i] ^= 0x10;
    EXPECT_FALSE(unpack_entry_points(packed, 5000, 40, again)) << i;
    packed[i] ^= 0x10;
  }
  EXPECT_TRUE(unpack_entry_points(packed, 5000, 40, again));
}

// All of one distance and without DC: each takes 0 bits, so that the bytes do not bound their number.
std::vector<std::uint8_t> points_of_no_bits(std::uint32_t count) {
  std::vector<std::uint8_t> packed;
  pack_entry_points(EntryPoints(1), 5000, packed);
  store_little_endian(packed.data() + 8, count);
  store_little_endian(packed.data(), static_cast<std::uint32_t>(hash64(Bytes(packed).subspan(4))));
  return packed;
}

TEST(PackedEntryPoints, TakeMemoryForNoMoreThanTheFileHas) {
  EntryPoints points;
  EXPECT_TRUE(unpack_entry_points(points_of_no_bits(5), 5000, 5, points));
  EXPECT_EQ(points.size(), 5u);
  points = {};
  for (const std::uint32_t count : {0U, 4U, 6U, std::numeric_limits<std::uint32_t>::max()}) {
    const std::vector<std::uint8_t> packed = points_of_no_bits(count);
    EXPECT_EQ(packed.size(), 34u);
    EXPECT_FALSE(unpack_entry_points(packed, 5000, 5, points)) << count;
    EXPECT_LE(points.capacity(), 5u) << count;
  }
  EXPECT_FALSE(unpack_entry_points(points_of_no_bits(0), 5000, 0, points)) << "there is a first segment always";
}

}  // namespace
}  // namespace stoker
