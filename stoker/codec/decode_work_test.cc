#include "stoker/codec/decode_work.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr int kWidth = 1000, kHeight = 800;
constexpr Rect kTop{0, 0, 100, 100}, kBottom{900, 700, 100, 100}, kBoth{0, 0, kWidth, kHeight};

ImageFacts facts_of(Codec codec, JpegCoding coding = JpegCoding::kSequential) {
  return {.codec = codec,
          .width = kWidth,
          .height = kHeight,
          .components = 3,
          .bits_per_component = 8,
          .coding = coding,
          .colors = JpegColors::kYcbcr};
}

TEST(DecodeWork, IsThatOfTheWindowAloneByEntryPoints) {
  const ImageFacts facts = facts_of(Codec::kJpeg);
  EXPECT_EQ(decode_planes_work(facts, kTop, true), decode_planes_work(facts, kBottom, true));
  EXPECT_LT(decode_planes_work(facts, kTop, true) + decode_planes_work(facts, kBottom, true),
            decode_planes_work(facts, kBoth, true) / 10);
}

TEST(DecodeWork, HasAllThatIsReadBeforeAWindow) {
  const ImageFacts facts = facts_of(Codec::kJpeg);
  EXPECT_GT(decode_planes_work(facts, kBottom, false), decode_planes_work(facts, kTop, false) + 600 * kWidth);
  EXPECT_GT(decode_rgb_work(facts, kBottom, false), decode_rgb_work(facts, kTop, false) + 600 * kWidth);
  const ImageFacts scans = facts_of(Codec::kJpeg, JpegCoding::kProgressive);
  EXPECT_EQ(decode_planes_work(scans, kTop, false), decode_planes_work(scans, kBottom, false));
}

TEST(DecodeWork, IsThatOfTheWholeImageWhereACodecKnowsNoWindows) {
  for (const Codec codec : {Codec::kPng, Codec::kWebp, Codec::kGif, Codec::kTiff, Codec::kJpeg2000, Codec::kAvif}) {
    EXPECT_EQ(decode_rgb_work(facts_of(codec), kTop, false), decode_rgb_work(facts_of(codec), kBoth, false));
    EXPECT_GT(decode_rgb_work(facts_of(codec), kTop, false), 0);
  }
  EXPECT_EQ(decode_rgb_work(facts_of(Codec::kRaw), kBoth, false), 0);
}

}  // namespace
}  // namespace stoker
