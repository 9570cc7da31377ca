#include "stoker/codec/exif.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "stoker/base/rounds_testing.h"
#include "stoker/codec/jpeg/markers.h"

namespace stoker {
namespace {

using Block = std::vector<std::uint8_t>;

// A TIFF block with two entries, the second of them the orientation.
Block exif_block(bool big_endian, std::uint8_t orientation, std::uint8_t type = 3, std::uint8_t count = 1) {
  if (big_endian) {
    return {'M', 'M', 0, 42, 0, 0, 0,    8, 0,    2, 0x01, 0x00, 0,     3, 0,           0, 0,
            1,   0,   9, 0,  0, 1, 0x12, 0, type, 0, 0,    0,    count, 0, orientation, 0, 0};
  }
  return {'I', 'I', 42, 0, 8, 0,    0, 0,    2, 0,     0x00, 0x01, 3, 0,           1, 0, 0,
          0,   9,   0,  0, 0, 0x12, 1, type, 0, count, 0,    0,    0, orientation, 0, 0, 0};
}

TEST(Exif, ReadsTheOrientationInBothByteOrders) {
  for (std::uint8_t orientation = 1; orientation <= 8; ++orientation) {
    EXPECT_EQ(exif_orientation(exif_block(false, orientation)), orientation);
    EXPECT_EQ(exif_orientation(exif_block(true, orientation)), orientation);
  }
}

TEST(Exif, SkipsTheOpeningThatJpegPutsBeforeIt) {
  Block block = exif_block(true, 7);
  const std::uint8_t opening[] = {'E', 'x', 'i', 'f', 0, 0};
  block.insert(block.begin(), std::begin(opening), std::end(opening));
  EXPECT_TRUE(starts_as_exif(block));
  EXPECT_EQ(exif_orientation(block), 7);
}

TEST(Exif, SenselessValuesCountAsUpright) {
  EXPECT_EQ(exif_orientation(exif_block(false, 0)), 1);
  EXPECT_EQ(exif_orientation(exif_block(false, 9)), 1);
  EXPECT_EQ(exif_orientation(exif_block(false, 6, 2)), 1);     // text
  EXPECT_EQ(exif_orientation(exif_block(false, 6, 3, 3)), 1);  // values that lie elsewhere
  EXPECT_EQ(exif_orientation(exif_block(false, 6, 4, 2)), 1);
  EXPECT_EQ(exif_orientation({}), 1);
}

TEST(Exif, TakesOtherTypesThanTheStandards) {
  EXPECT_EQ(exif_orientation(exif_block(false, 6, 3, 2)), 6) << "two shorts";
  EXPECT_EQ(exif_orientation(exif_block(true, 6, 3, 2)), 6);
  EXPECT_EQ(exif_orientation(exif_block(false, 6, 4)), 6) << "a long";
  Block big = exif_block(true, 0, 4);
  big[big.size() - 1] = 6;
  EXPECT_EQ(exif_orientation(big), 6);
}

TEST(Exif, TakesSignedNumbers) {
  EXPECT_EQ(exif_orientation(exif_block(false, 6, 8)), 6);
  EXPECT_EQ(exif_orientation(exif_block(true, 6, 8)), 6);
  EXPECT_EQ(exif_orientation(exif_block(false, 6, 9)), 6);
  Block negative = exif_block(false, 0xFA, 8);
  negative[negative.size() - 3] = 0xFF;
  EXPECT_EQ(exif_orientation(negative), 1);
}

TEST(Exif, TakesTheLastOfTwoOrientations) {
  Block block = exif_block(false, 6);
  block[10] = 0x12, block[18] = 3;  // the tag and the value of the first entry
  EXPECT_EQ(exif_orientation(block), 6);
  block[18] = 9;
  EXPECT_EQ(exif_orientation(block), 6);
  block[30] = 0;
  EXPECT_EQ(exif_orientation(block), 1);
}

TEST(Exif, NeverReadsPastAnEndWhereverItIsCut) {
  for (const bool big_endian : {false, true}) {
    const Block block = exif_block(big_endian, 6);
    for (std::size_t size = 0; size < block.size(); ++size) {
      const Block cut(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(exif_orientation(cut), 1) << size;
    }
  }
}

TEST(Exif, NeverReadsPastAnEndWhateverTheBytes) {
  for (unsigned seed = 0; seed < rounds(20000u); ++seed) {
    std::mt19937 random(seed);
    Block block = exif_block(seed % 2, 6);
    for (int i = 0; i < 3; ++i) block[random() % block.size()] = static_cast<std::uint8_t>(random());
    const Orientation orientation = exif_orientation(block);
    ASSERT_TRUE(orientation >= 1 && orientation <= 8);
  }
}

TEST(JpegMarkers, FindsExifBehindOtherSegmentsAndFillBytes) {
  Block file = {0xFF, 0xD8, 0xFF, 0xE0, 0,    4, 'J', 'F', 0xFF, 0xFF, 0xFF, 0xE1, 0, 5,
                'X',  'M',  'P',  0xFF, 0xE1, 0, 42,  'E', 'x',  'i',  'f',  0,    0};
  const Block block = exif_block(false, 3);
  file.insert(file.end(), block.begin(), block.end());
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(jpeg_orientation(Bytes(file).first(size)), 1) << size;
  }
  EXPECT_EQ(jpeg_orientation(file), 3);
}

TEST(JpegMarkers, ExifBehindTheFirstScanIsNotLookedFor) {
  Block file = {0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 0xFF, 0xE1, 0, 42, 'E', 'x', 'i', 'f', 0, 0};
  const Block block = exif_block(false, 3);
  file.insert(file.end(), block.begin(), block.end());
  EXPECT_EQ(jpeg_orientation(file), 1);
}

TEST(JpegMarkers, FindsTheEndMarkerFromAPositionOn) {
  const Block file = {0xFF, 0xD9, 1, 2, 0xFF, 0xD9, 3};
  EXPECT_TRUE(has_jpeg_end(file, 0));
  EXPECT_TRUE(has_jpeg_end(file, 4));
  EXPECT_FALSE(has_jpeg_end(file, 5));
  EXPECT_FALSE(has_jpeg_end(file, 100));
  EXPECT_FALSE(has_jpeg_end(Bytes(file).first(1), 0));
  EXPECT_FALSE(has_jpeg_end({}, 0));
}

}  // namespace
}  // namespace stoker
