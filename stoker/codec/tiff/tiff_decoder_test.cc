#include "stoker/codec/tiff/tiff_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/codec/damage_sweep_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/tiff/tiff_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

std::string refusal_of(Bytes file) {
  TiffDecoder decoder;
  try {
    const ImageFacts facts = decoder.read_facts(file);
    decoder.decode_rgb(file, facts, {0, 0, 1, 1});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    return error.message();
  }
  return "";
}

/// Where the value of a tag stands in a file with the lowest bytes first and a classic directory.
std::uint8_t* entry_of(std::vector<std::uint8_t>& file, std::uint16_t tag) {
  const auto directory = load_little_endian<std::uint32_t>(file.data() + 4);
  const auto count = load_little_endian<std::uint16_t>(file.data() + directory);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t* const entry = file.data() + directory + 2 + 12 * i;
    if (load_little_endian<std::uint16_t>(entry) == tag) return entry;
  }
  ADD_FAILURE() << "no tag " << tag;
  return file.data();
}

void set_tag(std::vector<std::uint8_t>& file, std::uint16_t tag, std::uint32_t value) {
  std::uint8_t* const entry = entry_of(file, tag);
  store_little_endian(entry + 2, std::uint16_t{4});
  store_little_endian(entry + 4, std::uint32_t{1});
  store_little_endian(entry + 8, value);
}

std::vector<TestTiff> lossy_kinds() {
  return {{.name = "jpeg_grey", .photometric = 1, .samples = 1, .compression = 7, .rows_per_strip = 8},
          {.name = "jpeg_rgb", .compression = 7, .rows_per_strip = 8},
          {.name = "jpeg_cmyk", .photometric = 5, .samples = 4, .compression = 7, .rows_per_strip = 8},
          {.name = "jpeg_planes", .compression = 7, .rows_per_strip = 8, .planar = 2},
          {.name = "jpeg_ycbcr", .photometric = 6, .compression = 7, .rows_per_strip = 16},
          {.name = "jpeg_ycbcr_tiles", .photometric = 6, .compression = 7, .tile = 16}};
}

class TiffDecoderOf : public testing::TestWithParam<TestTiff> {};
INSTANTIATE_TEST_SUITE_P(Kinds, TiffDecoderOf, testing::ValuesIn(kinds_of_tiff()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST_P(TiffDecoderOf, EveryWindowIsWhatTheSamplesMean) {
  const EncodedTiff file = make_test_tiff(GetParam());
  TiffDecoder decoder;
  const ImageFacts facts = decoder.read_facts(file.bytes);
  ASSERT_EQ(facts.codec, Codec::kTiff);
  ASSERT_EQ(facts.width, file.rgb.width);
  ASSERT_EQ(facts.height, file.rgb.height);
  for (const Rect& window : sweep_windows(facts.width, facts.height)) {
    ASSERT_EQ(first_difference(decoder.decode_rgb(file.bytes, facts, window), file.rgb.view().crop(window)), "");
  }
  std::vector<std::uint8_t> entry_points;
  EXPECT_TRUE(decoder.decodes_cleanly(file.bytes, facts, entry_points));
}

TEST_P(TiffDecoderOf, EveryTruncationIsBad) {
  const EncodedTiff file = make_test_tiff(GetParam());
  TiffDecoder decoder;
  // libtiff puts the directory, or the values of a tag, last; a byte that fills them up may follow.
  for (std::size_t size = 0; size + 1 < file.bytes.size(); size += size < 300 ? 1 : 37) {
    ASSERT_THROW(decoder.read_facts(first_bytes_of(file.bytes, size)), Error) << size;
  }
}

TEST(TiffDecoder, JpegDataInItAreCloseToTheSamples) {
  TiffDecoder decoder;
  for (TestTiff tiff : lossy_kinds()) {
    tiff.quality = 100;
    const EncodedTiff file = make_test_tiff(tiff);
    const auto whole = try_decode(decoder, file.bytes);
    ASSERT_TRUE(whole) << tiff.name;
    const ImageFacts facts = decoder.read_facts(file.bytes);
    EXPECT_EQ(facts.coding, JpegCoding::kSequential);
    for (const Rect& window : sweep_windows(facts.width, facts.height)) {
      ASSERT_EQ(first_difference(decoder.decode_rgb(file.bytes, facts, window), whole->view().crop(window)), "");
    }
    if (tiff.photometric == 6) continue;  // chroma of noise does not survive its subsampling
    for (std::size_t i = 0; i < whole->pixels.size(); ++i) {
      ASSERT_NEAR(whole->pixels[i], file.rgb.pixels[i], 6) << tiff.name << " " << i;
    }
  }
}

TEST(TiffDecoder, ReadsTheOrientation) {
  TiffDecoder decoder;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const EncodedTiff file = make_test_tiff({.name = "", .orientation = orientation});
    EXPECT_EQ(decoder.read_facts(file.bytes).orientation, orientation);
    EXPECT_EQ(try_decode(decoder, file.bytes)->pixels, file.rgb.pixels);
  }
  EncodedTiff file = make_test_tiff({.name = ""});
  set_tag(file.bytes, 274, 9);
  EXPECT_EQ(decoder.read_facts(file.bytes).orientation, 1);
}

TEST(TiffDecoder, SaysWhatItDoesNotRead) {
  const auto changed = [](std::uint16_t tag, std::uint32_t value) {
    EncodedTiff file = make_test_tiff({.name = "", .compression = 5});
    set_tag(file.bytes, tag, value);
    return refusal_of(file.bytes);
  };
  EXPECT_EQ(changed(259, 34925), "TIFF images of compression 34925 are not read");
  EXPECT_EQ(changed(259, 65536 + 1), "TIFF images of compression 65537 are not read");
  EXPECT_EQ(changed(262, 8), "TIFF images of photometric interpretation 8 are not read");
  EXPECT_THAT(changed(277, 7), HasSubstr("7 samples a pixel, of which 3 are colours"));
  EXPECT_THAT(changed(277, 2), HasSubstr("2 samples a pixel, of which 3 are colours"));
  EXPECT_THAT(changed(258, 32), HasSubstr("32 bits a sample"));
  EXPECT_THAT(changed(256, 0), HasSubstr("its size makes no sense"));
  EXPECT_THAT(changed(257, 0xFFFFFFFF), HasSubstr("its size makes no sense"));
  EXPECT_THAT(changed(278, 0), HasSubstr("its strips have no rows"));
  EXPECT_THAT(changed(273, 8), HasSubstr("too little of where its pixels are"));
  EXPECT_THAT(changed(278, 6), HasSubstr("cannot be decoded"));  // strips are shorter than that
}

TEST(TiffDecoder, RefusesTilesThatAreFarLargerThanTheImage) {
  EncodedTiff file = make_test_tiff({.name = "", .width = 20, .height = 20, .tile = 32});
  for (const auto& [side, refused] : {std::pair{1024, "truncated"},
                                      {1025, "tiles have a side of 1025 pixels, and 1024 are the most"},
                                      {0, "tiles make no sense"},
                                      {1 << 30, "smaller tiles"}}) {
    set_tag(file.bytes, 322, static_cast<std::uint32_t>(side));
    EXPECT_THAT(refusal_of(file.bytes), HasSubstr(refused)) << side;
  }
}

// Rows that all are the same megabyte of nothing would take as long to read as they are many.
TEST(TiffDecoder, RefusesStripsThatLieOnEachOther) {
  EncodedTiff file = make_test_tiff({.name = "", .width = 4, .height = 200, .compression = 8, .rows_per_strip = 1});
  const std::uint8_t* const entry = entry_of(file.bytes, 279);
  const std::size_t size = load_little_endian<std::uint16_t>(entry + 2) == 3 ? 2 : 4;
  const auto counts = load_little_endian<std::uint32_t>(entry + 8);
  EXPECT_EQ(refusal_of(file.bytes), "");
  for (std::size_t i = 0; i < 200; ++i) {
    for (std::size_t k = 0; k < 2; ++k) file.bytes[counts + i * size + k] = k == 0 ? 0 : 4;  // 1024 bytes
  }
  EXPECT_THAT(refusal_of(file.bytes), HasSubstr("its parts lie on each other"));
}

TEST(TiffDecoder, RefusesZstandardDataThatNeedALargeWindow) {
  const EncodedTiff good = make_test_tiff({.name = "", .compression = 50000, .rows_per_strip = 23});
  const std::uint8_t magic[] = {0x28, 0xB5, 0x2F, 0xFD};
  const auto at =
      std::search(good.bytes.begin(), good.bytes.end(), std::begin(magic), std::end(magic)) - good.bytes.begin();
  ASSERT_LT(at + 6, static_cast<std::ptrdiff_t>(good.bytes.size()));
  const auto changed = [&](std::uint8_t flags, std::uint8_t window) {
    std::vector<std::uint8_t> file = good.bytes;
    file[static_cast<std::size_t>(at) + 4] = flags;
    file[static_cast<std::size_t>(at) + 5] = window;
    return refusal_of(file);
  };
  EXPECT_THAT(changed(0, 13 << 3 | 1), HasSubstr("too large a window"));
  EXPECT_THAT(changed(0, 31 << 3), HasSubstr("too large a window"));
  EXPECT_THAT(changed(0xE0, 0xFF), HasSubstr("larger than its pixels"));
}

TEST(TiffDecoder, RefusesJpegDataOfAnotherSize) {
  const EncodedTiff good = make_test_tiff({.name = "", .photometric = 6, .compression = 7, .rows_per_strip = 16});
  EXPECT_EQ(refusal_of(good.bytes), "");
  const std::uint8_t frame[] = {0xFF, 0xC0, 0, 17, 8};
  const auto at =
      std::search(good.bytes.begin(), good.bytes.end(), std::begin(frame), std::end(frame)) - good.bytes.begin();
  const auto changed = [&](std::size_t place, std::uint8_t value) {
    std::vector<std::uint8_t> file = good.bytes;
    file[static_cast<std::size_t>(at) + place] = value;
    return refusal_of(file);
  };
  EXPECT_THAT(changed(5, 0xFF), HasSubstr("not of its size"));  // 65,296 rows
  EXPECT_THAT(changed(7, 0xFF), HasSubstr("not of its size"));
  EXPECT_THAT(changed(6, 15), HasSubstr("not of its size"));
  EXPECT_THAT(changed(9, 1), HasSubstr("not of its size"));
  EXPECT_THAT(changed(1, 0xC3), HasSubstr("of a rare kind"));
  EXPECT_THAT(changed(11, 0x11), HasSubstr("differ in their sampling"));
}

TEST(TiffDecoder, FaxDataThatEndEarlyAreConcealedAlikeEveryTime) {
  EncodedTiff file =
      make_test_tiff({.name = "", .photometric = 0, .samples = 1, .bits = 1, .compression = 4, .rows_per_strip = 23});
  std::uint8_t* const entry = entry_of(file.bytes, 279);
  const auto bytes = load_little_endian<std::uint16_t>(entry + 8);
  store_little_endian(entry + 8, static_cast<std::uint16_t>(bytes / 2));
  TiffDecoder decoder, other;
  const auto first = try_decode(decoder, file.bytes);
  ASSERT_TRUE(first);
  EXPECT_FALSE(try_decode(other, make_test_tiff({.name = ""}).bytes)->pixels.empty());  // leaves its pixels in memory
  EXPECT_EQ(try_decode(other, file.bytes)->pixels, first->pixels);
  std::vector<std::uint8_t> entry_points;
  EXPECT_FALSE(decoder.decodes_cleanly(file.bytes, decoder.read_facts(file.bytes), entry_points));
}

TEST(TiffDecoder, DamageIsBadForEveryWindowOrForNone) {
  std::vector<std::vector<std::uint8_t>> files;
  for (TestTiff tiff : kinds_of_tiff()) {
    tiff.width = std::min(tiff.width, 13), tiff.height = std::min(tiff.height, 7);
    files.push_back(make_test_tiff(tiff).bytes);
  }
  for (const TestTiff& tiff : lossy_kinds()) files.push_back(make_test_tiff(tiff).bytes);
  expect_damage_is_bad_for_every_window_or_none(files, {.intact = 4, .seeds = 4000});
}

}  // namespace
}  // namespace stoker
