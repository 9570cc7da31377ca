// What every decoder of small files owes to damaged ones: they are bad whatever is asked for, or never.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "stoker/base/rounds_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/image_decoder.h"

namespace stoker {

struct DamageSweep {
  std::size_t flipped = 1;           // files, the first ones, whose bits are flipped
  std::size_t bytes_max = SIZE_MAX;  // of each of those
  std::size_t bit_step = 1;
  std::size_t intact = 0;  // bytes at the beginning of all files that are not mangled
  unsigned seeds = 0;
};

/// Flips bits of the first files and mangles all: each result decodes as a whole, in another decoder and for one pixel
/// alone, or in none of these, and to the same pixels. Enough of them must be bad.
inline void expect_damage_is_bad_for_every_window_or_none(const std::vector<std::vector<std::uint8_t>>& files,
                                                          const DamageSweep& sweep) {
  AnyImageDecoder decoder(kTestLimits), other(kTestLimits);
  int bad = 0;
  const auto check = [&](const std::vector<std::uint8_t>& broken) {
    const auto whole = try_decode(decoder, broken), again = try_decode(other, broken);
    ASSERT_EQ(whole.has_value(), again.has_value());
    ASSERT_EQ(whole.has_value(), try_decode(other, broken, {0, 0, 1, 1}).has_value());
    ASSERT_TRUE(!whole || whole->pixels == again->pixels);
    bad += !whole;
  };
  for (std::size_t file = 0; file < std::min(files.size(), sweep.flipped); ++file) {
    for (std::size_t bit = 0; bit < 8 * std::min(files[file].size(), sweep.bytes_max); bit += sweep.bit_step) {
      auto broken = files[file];
      broken[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      check(broken);
    }
  }
  for (unsigned seed = 0; seed < rounds(sweep.seeds); ++seed) {
    std::mt19937 random(seed);
    check(mangled(files[seed % files.size()], sweep.intact, random));
  }
  EXPECT_GT(bad, 100);
}

}  // namespace stoker
