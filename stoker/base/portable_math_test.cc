#include "stoker/base/portable_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "stoker/base/hash.h"
#include "stoker/base/random.h"

namespace stoker {
namespace {

TEST(PortableMath, ExpIsWithinAFewUlpOfLibm) {
  Random random(1, 0, 0, 0);
  for (int i = 0; i < 100'000; ++i) {
    const double x = random.uniform(-20, 20);
    const double want = std::exp(x);
    ASSERT_NEAR(portable_exp(x), want, 4e-16 * want * 2) << x;
  }
  EXPECT_EQ(portable_exp(0), 1);
}

TEST(PortableMath, LogIsWithinAFewUlpOfLibm) {
  Random random(2, 0, 0, 0);
  for (int i = 0; i < 100'000; ++i) {
    const double x = std::ldexp(random.uniform(0.5, 1), static_cast<int>(random.below(60)) - 30);
    const double want = std::log(x);
    ASSERT_NEAR(portable_log(x), want, 1e-15 * (std::abs(want) + 0.1)) << x;
  }
  EXPECT_EQ(portable_log(1), 0);
}

TEST(PortableMath, SineAndCosineAreThoseOfLibm) {
  Random random(3, 0, 0, 0);
  for (int i = 0; i < 200'000; ++i) {
    const double x = random.uniform(-1, 1) * (i % 2 == 0 ? 10 : 1e6);
    const SineCosine got = portable_sine_cosine(x);
    ASSERT_NEAR(got.sine, std::sin(x), 3e-16) << x;
    ASSERT_NEAR(got.cosine, std::cos(x), 3e-16) << x;
  }
  EXPECT_EQ(portable_sine_cosine(0).sine, 0);
  EXPECT_EQ(portable_sine_cosine(0).cosine, 1);
}

TEST(PortableMath, KeepsItsGoldenBits) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(portable_exp(1.0)), 4613303445314885480u);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(portable_log(0.75)), 13822226076269861778u);
  std::vector<std::uint8_t> bytes;
  const auto keep = [&](double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<std::uint8_t>(bits >> shift));
  };
  for (int i = 0; i < 10'000; ++i) {
    keep(portable_exp(i * 0x1p-9 - 10));
    keep(portable_log(0.3 + i * 0x1p-12));
  }
  EXPECT_EQ(to_hex(hash64(bytes)), "98b110bdc994dbd6");
  bytes.clear();
  for (int i = 0; i < 10'000; ++i) {
    keep(portable_sine_cosine(i * 0x1p-7 - 40).sine);
    keep(portable_sine_cosine(i * 0x1p-7 - 40).cosine);
  }
  EXPECT_EQ(to_hex(hash64(bytes)), "5c43f5b4f71d8a2d");
}

}  // namespace
}  // namespace stoker
