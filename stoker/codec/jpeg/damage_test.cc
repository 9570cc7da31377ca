// Damaged JPEG files: what is bad is bad for every window; what libjpeg conceals looks the same through every window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_decoder.h"

namespace stoker {
namespace {

using testing::HasSubstr;

std::vector<std::uint8_t> small_jpeg(TestJpeg kind = {.name = "420", .horizontal = 2, .vertical = 2}) {
  return encode_test_jpeg(kind, make_test_image(61, 45, kind.components));
}

std::string message_of(ImageDecoder& decoder, Bytes encoded) {
  try {
    decoder.read_facts(encoded);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    return error.message();
  }
  return "no error";
}

TEST(JpegDamage, EveryTruncationIsBad) {
  LibjpegDecoder decoder;
  for (const bool progressive : {false, true}) {
    const auto encoded = small_jpeg({.name = "420", .horizontal = 2, .vertical = 2, .progressive = progressive});
    for (std::size_t size = 0; size < encoded.size(); ++size) {
      ASSERT_THROW(decoder.read_facts(first_bytes_of(encoded, size)), Error) << size << " of " << encoded.size();
    }
  }
}

TEST(JpegDamage, AMissingEndMarkerIsBadForEveryWindow) {
  auto encoded = small_jpeg();
  LibjpegDecoder decoder;
  const ImageFacts facts = decoder.read_facts(encoded);
  encoded.resize(encoded.size() - 2);
  EXPECT_THAT(message_of(decoder, encoded), HasSubstr("no end-of-image marker"));
  for (const Rect& window : {Rect{0, 0, 1, 1}, {0, 0, 61, 45}, {60, 44, 1, 1}, {20, 20, 8, 8}}) {
    EXPECT_THROW(decoder.decode_rgb(encoded, facts, window), Error);
  }
}

TEST(JpegDamage, AnEndMarkerBeforeThePixelsDoesNotCount) {
  auto encoded = small_jpeg();
  encoded.resize(encoded.size() - 2);
  const std::uint8_t comment[] = {0xFF, 0xFE, 0, 4, 0xFF, 0xD9};
  encoded.insert(encoded.begin() + 2, std::begin(comment), std::end(comment));
  LibjpegDecoder decoder;
  EXPECT_THAT(message_of(decoder, encoded), HasSubstr("no end-of-image marker"));
}

TEST(JpegDamage, BytesAfterTheEndMarkerAreIgnored) {
  const auto encoded = small_jpeg();
  auto longer = encoded;
  longer.insert(longer.end(), 1000, 0x55);
  LibjpegDecoder decoder;
  EXPECT_EQ(try_decode(decoder, longer)->pixels, try_decode(decoder, encoded)->pixels);
}

TEST(JpegDamage, SaysWhatLibjpegSays) {
  auto encoded = small_jpeg();
  const std::uint8_t frame[] = {0xFF, 0xC0};
  const auto at = std::search(encoded.begin(), encoded.end(), std::begin(frame), std::end(frame));
  LibjpegDecoder decoder;
  auto twelve_bits = encoded;
  twelve_bits[static_cast<std::size_t>(at - encoded.begin()) + 4] = 12;
  EXPECT_THAT(message_of(decoder, twelve_bits), HasSubstr("precision 12"));
  auto lossless = encoded;
  lossless[static_cast<std::size_t>(at - encoded.begin()) + 1] = 0xC3;
  EXPECT_THAT(message_of(decoder, lossless), HasSubstr("0xc3"));
  EXPECT_THAT(message_of(decoder, Bytes{}), HasSubstr("cannot be decoded: Empty input file"));
}

TEST(JpegDamage, TwoComponentsAreRefused) {
  auto encoded = small_jpeg({.name = "grey", .components = 1});
  const std::uint8_t frame[] = {0xFF, 0xC0, 0, 11};
  const auto at = std::search(encoded.begin(), encoded.end(), std::begin(frame), std::end(frame));
  ASSERT_NE(at, encoded.end());
  at[3] = 14;
  at[9] = 2;
  const std::uint8_t second[] = {2, 0x11, 0};
  encoded.insert(at + 13, std::begin(second), std::end(second));
  LibjpegDecoder decoder;
  EXPECT_THAT(message_of(decoder, encoded), HasSubstr("two components"));
}

TEST(JpegDamage, EndlessScansHitALimit) {
  const auto encoded = small_jpeg({.name = "grey", .components = 1, .progressive = true});
  const std::uint8_t scan[] = {0xFF, 0xDA};
  const auto last_scan = std::find_end(encoded.begin(), encoded.end(), std::begin(scan), std::end(scan));
  std::vector<std::uint8_t> bomb(encoded.begin(), encoded.end() - 2);
  for (int i = 0; i < 600; ++i) bomb.insert(bomb.end(), last_scan, encoded.end() - 2);
  bomb.insert(bomb.end(), {0xFF, 0xD9});
  LibjpegDecoder decoder;
  const ImageFacts facts = decoder.read_facts(bomb);
  try {
    decoder.decode_rgb(bomb, facts, {0, 0, 1, 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kLimit);
    EXPECT_THAT(error.message(), HasSubstr("500 scans"));
  }
}

TEST(JpegDamage, ConcealedFaultsLookTheSameThroughEveryWindow) {
  const std::vector<TestJpeg> kinds = {
      {.name = "444"},
      {.name = "422", .horizontal = 2},
      {.name = "420", .horizontal = 2, .vertical = 2},
      {.name = "440", .vertical = 2},
      {.name = "grey", .components = 1},
      {.name = "restarts", .horizontal = 2, .vertical = 2, .restart_interval = 2},
      {.name = "progressive", .horizontal = 2, .vertical = 2, .progressive = true},
      {.name = "arithmetic", .horizontal = 2, .vertical = 2, .arithmetic = true, .restart_rows = 1},
      {.name = "non-interleaved", .horizontal = 2, .vertical = 2, .non_interleaved = true},
  };
  std::vector<std::vector<std::uint8_t>> files;
  for (const TestJpeg& kind : kinds) files.push_back(small_jpeg(kind));
  AnyImageDecoder decoder(kTestLimits), first_time(kTestLimits);
  int shown = 0;
  for (unsigned seed = 0; seed < rounds(2000u); ++seed) {
    std::mt19937 random(seed);
    const TestJpeg& kind = kinds[seed % kinds.size()];
    const auto& encoded = files[seed % files.size()];
    // Mostly after the tables, where faults are concealed; sometimes in the header too.
    const auto broken = damaged(encoded, seed % 8 == 0 ? 3 : encoded.size() / 3, random);
    const auto got = try_decode(decoder, broken);
    const auto again = try_decode(decoder, broken);
    ASSERT_EQ(got.has_value(), again.has_value()) << seed;
    if (!got) continue;
    ++shown;
    ASSERT_EQ(got->pixels, again->pixels) << seed;
    if (const auto want = decode_whole_jpeg(broken); want && want->channels == 3) {
      ASSERT_EQ(first_difference(got->view(), want->view()), "") << kind.name << ", seed " << seed;
    }
    for (int i = 0; i < 6; ++i) {
      const int x = static_cast<int>(random() % static_cast<unsigned>(got->width));
      const int y = static_cast<int>(random() % static_cast<unsigned>(got->height));
      const Rect window{x, y, std::min(got->width - x, 1 + static_cast<int>(random() % 30)),
                        std::min(got->height - y, 9)};
      const auto part = try_decode(first_time, broken, window);
      ASSERT_TRUE(part) << kind.name << ", seed " << seed;
      ASSERT_EQ(first_difference(part->view(), got->view().crop(window)), "") << kind.name << ", seed " << seed;
    }
  }
  EXPECT_GT(shown, rounds(1000));
}

TEST(JpegDamage, WhatIsBadInPartIsBadForEveryWindow) {
  const auto sequential = small_jpeg();
  const auto progressive = small_jpeg({.name = "p", .horizontal = 2, .vertical = 2, .progressive = true});
  AnyImageDecoder decoder(kTestLimits);
  int bad = 0;
  for (unsigned seed = 0; seed < rounds(500u); ++seed) {
    std::mt19937 random(seed);
    const auto broken = damaged(seed % 2 ? sequential : progressive, 3, random);
    ImageFacts facts;
    try {
      facts = decoder.read_facts(broken);
    } catch (const Error&) {
      continue;
    }
    const bool whole = try_decode(decoder, broken).has_value();
    const bool corner = try_decode(decoder, broken, {0, 0, 1, 1}).has_value();
    const bool end = try_decode(decoder, broken, {facts.width - 1, facts.height - 1, 1, 1}).has_value();
    ASSERT_EQ(whole, corner) << seed;
    ASSERT_EQ(whole, end) << seed;
    bad += !whole;
  }
  EXPECT_GT(bad, 0);
}

TEST(JpegDamage, AFileWithoutTablesDoesNotBorrowThoseOfTheLastImage) {
  const auto whole = small_jpeg();
  auto bare = whole;
  for (const std::uint8_t table : {0xDB, 0xC4}) {  // quantisation, Huffman
    const std::uint8_t marker[] = {0xFF, table};
    for (;;) {
      const auto at = std::search(bare.begin(), bare.end(), std::begin(marker), std::end(marker));
      if (at == bare.end()) break;
      bare.erase(at, at + 2 + (at[2] << 8 | at[3]));
    }
  }
  ASSERT_LT(bare.size(), whole.size());
  LibjpegDecoder decoder;
  EXPECT_TRUE(try_decode(decoder, whole));
  EXPECT_FALSE(try_decode(decoder, bare));
}

TEST(JpegDamage, ADecoderWorksAgainAfterAnError) {
  const auto good = small_jpeg();
  LibjpegDecoder fresh, decoder;
  const auto want = try_decode(fresh, good);
  for (std::size_t cut : {std::size_t{1}, std::size_t{30}, std::size_t{300}, good.size() - 1}) {
    EXPECT_FALSE(try_decode(decoder, first_bytes_of(good, cut)));
    EXPECT_EQ(try_decode(decoder, good)->pixels, want->pixels);
  }
}

}  // namespace
}  // namespace stoker
