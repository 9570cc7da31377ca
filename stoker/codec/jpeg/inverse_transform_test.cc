// The inverse transform on coefficients that no encoder makes of an image: its 16 bits overflow where libjpeg's do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stoker/base/isa_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/jpeg/coded_jpeg_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"
#include "stoker/codec/jpeg/plane_decoder.h"
#include "stoker/tensor/planes_testing.h"

namespace stoker {
namespace {

using Block = std::array<int, 64>;

// Blocks of all shapes that shortcuts could tell apart; values up to `limit`.
Block make_block(Noise& noise, int limit) {
  Block block{};
  const auto value = [&] {
    if (noise.between(0, 3) == 0) return noise.between(0, 1) ? limit : -limit;
    return noise.between(-limit, limit);
  };
  const auto fill = [&](int each, auto wanted) {
    for (std::size_t k = 0; k < 64; ++k) {
      if (wanted(int{kZigzag[k]}) && noise.between(1, each) == 1) block[k] = value();
    }
  };
  switch (noise.between(0, 7)) {
    case 0: break;
    case 1: block[0] = value(); break;
    case 2: fill(1, [](int place) { return place < 8; }); break;       // the first row
    case 3: fill(1, [](int place) { return place % 8 == 0; }); break;  // the first column
    case 4: fill(2, [](int place) { return place < 8; }); break;
    case 5: fill(20, [](int) { return true; }); break;
    case 6: fill(3, [](int) { return true; }); break;
    default: fill(1, [](int) { return true; }); break;
  }
  for (int& coefficient : block) coefficient = std::clamp(coefficient, -32767, 32767);
  return block;
}

class InverseTransformOn : public EachIsa {
 protected:
  void expect_equal(const CodedJpeg& jpeg, const std::string& what) {
    const std::vector<std::uint8_t> encoded = jpeg.write();
    const std::optional<JpegHeader> header = parse_jpeg_header(encoded);
    ASSERT_TRUE(header) << what;
    const Rect whole{0, 0, header->width, header->height};
    std::vector<std::uint8_t> entry_points;
    ASSERT_TRUE(library_.decodes_cleanly(encoded, header->facts(), entry_points)) << what;
    for (const int shrink : {1, 2, 4, 8}) {
      const std::optional<Planes> planes = decoder_.decode(encoded, *header, whole, nullptr, shrink);
      ASSERT_TRUE(planes) << what;
      const Planes want = library_.decode_planes(encoded, header->facts(), whole, {}, shrink);
      ASSERT_EQ(planes_difference(*planes, want), "") << what << ", shrunk by " << shrink;
    }
  }

  JpegPlaneDecoder decoder_;
  LibjpegDecoder library_;
};
INSTANTIATE_TEST_SUITE_P(Isa, InverseTransformOn, testing::ValuesIn(kIsaNames), isa_name);

TEST_P(InverseTransformOn, OverflowsAsThatOfLibjpegDoes) {
  if (!kLibjpegOverflowsAsDefined) GTEST_SKIP() << "libjpeg overflows in another way here";
  constexpr int kLimits[] = {1, 30, 255, 1023, 2047, 8191, 8192, 16383};
  constexpr int kDivisors[] = {1, 2, 3, 8, 16, 64, 128, 255, 256, 1024, 4096, 32767, 32768, 65535};
  for (int round = 0; round < rounds(2000); ++round) {
    Noise noise(static_cast<std::uint32_t>(round));
    CodedJpeg jpeg{.width = 72, .height = 40};
    // The difference of two DC values has 15 bits, too.
    const int limit = kLimits[round % std::size(kLimits)];
    const int divisor = kDivisors[static_cast<std::size_t>(noise.between(0, std::size(kDivisors) - 1))];
    const bool same = round % 3 != 0;
    for (std::uint16_t& entry : jpeg.quantization) {
      entry = static_cast<std::uint16_t>(same ? divisor : kDivisors[noise.next() % std::size(kDivisors)]);
    }
    for (int i = 0; i < jpeg.block_count(); ++i) jpeg.blocks.push_back(make_block(noise, limit));
    expect_equal(jpeg, fmt::format("round {}, values up to {}, divisor {}", round, limit, divisor));
    if (HasFatalFailure()) return;
  }
}

// 256 times 256 is nothing in 16 bits; libjpeg takes its shortcuts by what it was before.
TEST_P(InverseTransformOn, TellsCoefficientsFromProductsThatVanish) {
  if (!kLibjpegOverflowsAsDefined) GTEST_SKIP() << "libjpeg overflows in another way here";
  for (const std::size_t other : {1, 2, 5, 35, 63}) {
    for (const int dc : {1, 31, 32, 33, 64, 100, 127}) {
      CodedJpeg jpeg{.width = 64, .height = 8};
      jpeg.quantization.fill(256);
      for (int i = 0; i < jpeg.block_count(); ++i) {
        Block block{};
        block[0] = i % 2 ? dc : -dc;
        if (i % 3 != 0) block[other] = 256;
        jpeg.blocks.push_back(block);
      }
      expect_equal(jpeg, fmt::format("DC {}, coefficient {}", dc, other));
    }
  }
}

}  // namespace
}  // namespace stoker
