#include "stoker/format/index/index_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "stoker/base/error_testing.h"
#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kDataBytes = 1 << 20;
constexpr IndexLimits kLimits{.names = 2, .data_bytes = kDataBytes, .entry_points_bytes = 100};

/// The bytes of a block of two rows, an image and raw pixels in three chunks, in which single values can be changed.
class HandMadeBlock {
 public:
  HandMadeBlock() {
    SampleRow image, raw;
    image.key = "picture";
    image.facts = ImageFacts{.codec = Codec::kJpeg, .width = 4, .height = 3, .components = 3, .bits_per_component = 8};
    image.fields = {{.name = "jpg", .part = {}, .offset = 0, .length = 900},
                    {.name = "npy", .part = {}, .offset = 1024, .length = 10}};
    raw.key = "raw";
    raw.fields = {{.name = "npy", .part = {}, .offset = 2048, .length = 2 * kChunkBytes + 1, .chunks = 3}};
    raw.chunk_crcs = {1, 2, 3};
    IndexBlockBuilder builder;
    builder.add(image, std::vector<std::uint16_t>{0, 1}, 100);
    builder.add(raw, std::vector<std::uint16_t>{1});
    builder.take(bytes_);

    std::size_t at = 16;
    const auto columns = [&](std::size_t count, std::size_t bytes, std::initializer_list<const char*> names) {
      for (const char* name : names) {
        columns_[name] = {at, bytes};
        at += count * bytes;
      }
    };
    columns(2, 8, {"label"});
    columns(2, 4, {"key end", "field end", "width", "height", "entry points end"});
    columns(2, 1, {"codec", "components", "bits", "orientation", "chroma", "coding", "colors", "soundness"});
    columns(3, 8, {"offset", "length"});
    columns(3, 4, {"crc", "chunk end"});
    columns(3, 2, {"name"});
  }

  HandMadeBlock& set(const char* column, std::size_t i, std::uint64_t value) {
    const auto [begin, width] = columns_.at(column);
    for (std::size_t byte = 0; byte < width; ++byte) {
      bytes_[begin + i * width + byte] = static_cast<std::uint8_t>(value >> 8 * byte);
    }
    return *this;
  }
  /// Why it is refused; empty where it is not.
  std::string refusal() const {
    try {
      const IndexBlock block(bytes_, 2, kLimits);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      return error.message();
    }
  }

 private:
  struct Column {
    std::size_t begin, width;
  };
  std::vector<std::uint8_t> bytes_;
  std::map<std::string, Column> columns_;
};

std::string refusal(const char* column, std::size_t i, std::uint64_t value) {
  return HandMadeBlock().set(column, i, value).refusal();
}

TEST(IndexBlock, TakesValuesUpToTheirLimits) {
  EXPECT_EQ(HandMadeBlock().refusal(), "");
  EXPECT_EQ(refusal("label", 0, ~std::uint64_t{0}), "") << "-1: unknown";
  EXPECT_EQ(refusal("codec", 0, static_cast<std::uint64_t>(kLastCodec)), "");
  EXPECT_EQ(refusal("coding", 0, static_cast<std::uint64_t>(JpegCoding::kArithmetic)), "");
  EXPECT_EQ(refusal("colors", 0, static_cast<std::uint64_t>(JpegColors::kYcck)), "");
  EXPECT_EQ(refusal("soundness", 1, static_cast<std::uint64_t>(Soundness::kBad)), "");
  EXPECT_EQ(refusal("orientation", 0, 8), "");
  EXPECT_EQ(refusal("orientation", 1, 0), "") << "of no image";
  EXPECT_EQ(refusal("width", 0, INT32_MAX), "");
  EXPECT_EQ(refusal("offset", 0, kDataBytes - 900), "") << "ends where its shard does";
}

// The checksums of such an index may well be right: an image's facts and a field's place are used as they are.
TEST(IndexBlock, RefusesValuesThatNothingHas) {
  EXPECT_THAT(refusal("label", 1, ~std::uint64_t{1}), HasSubstr("a label"));
  EXPECT_THAT(refusal("codec", 0, static_cast<std::uint64_t>(kLastCodec) + 1), HasSubstr("a codec"));
  EXPECT_THAT(refusal("coding", 1, static_cast<std::uint64_t>(JpegCoding::kArithmetic) + 1), HasSubstr("coding"));
  EXPECT_THAT(refusal("colors", 1, static_cast<std::uint64_t>(JpegColors::kYcck) + 1), HasSubstr("colours"));
  EXPECT_THAT(refusal("soundness", 1, static_cast<std::uint64_t>(Soundness::kBad) + 1), HasSubstr("soundness"));
  EXPECT_THAT(refusal("orientation", 0, 0), HasSubstr("orientation"));
  EXPECT_THAT(refusal("orientation", 0, 9), HasSubstr("orientation"));
  EXPECT_THAT(refusal("width", 0, std::uint64_t{INT32_MAX} + 1), HasSubstr("too large"));
  EXPECT_THAT(refusal("height", 0, std::uint64_t{INT32_MAX} + 1), HasSubstr("too large"));
  EXPECT_THAT(refusal("offset", 2, kDataBytes + 1), HasSubstr("outside its shard"));
  EXPECT_THAT(refusal("offset", 0, kDataBytes - 899), HasSubstr("outside its shard"));
  EXPECT_THAT(refusal("length", 0, kDataBytes + 1), HasSubstr("outside its shard"));
  EXPECT_THAT(refusal("name", 2, 2), HasSubstr("no name"));
}

/// Why a block of one row is refused whose fields have so many bytes, as blocks of a shard may be said to become; empty
/// where it is not. Otherwise their sum is what the row says.
std::string refusal_of_row(const std::vector<std::uint64_t>& lengths) {
  const std::vector<std::string> names = {"bin"};
  SampleRow row, found;
  for (const std::uint64_t length : lengths) row.fields.push_back({.name = names[0], .part = {}, .length = length});
  IndexBlockBuilder builder;
  builder.add(row, std::vector<std::uint16_t>(lengths.size(), 0));
  std::vector<std::uint8_t> bytes;
  builder.take(bytes);
  try {
    const IndexBlock block(bytes, 1, {.names = names.size(), .data_bytes = INT64_MAX});
    block.read(0, names, found);
    std::uint64_t sum = 0;
    for (const std::uint64_t length : lengths) EXPECT_FALSE(__builtin_add_overflow(sum, length, &sum));
    EXPECT_EQ(found.bytes(), sum);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    return error.message();
  }
}

TEST(IndexBlock, RefusesRowsWhoseFieldsHaveMoreBytesTogetherThanCanBeCounted) {
  constexpr std::uint64_t kQuarter = std::uint64_t{1} << 62;
  EXPECT_EQ(refusal_of_row({kQuarter, kQuarter - 1}), "");
  EXPECT_THAT(refusal_of_row({kQuarter, kQuarter}), HasSubstr("more bytes than can be counted"));
  EXPECT_THAT(refusal_of_row({kQuarter, kQuarter, kQuarter, kQuarter}), HasSubstr("more bytes")) << "together 0";
}

TEST(IndexBlock, RefusesColumnsThatDoNotFitEachOther) {
  EXPECT_THAT(refusal("key end", 0, 11), HasSubstr("outside its text"));
  EXPECT_THAT(HandMadeBlock().set("key end", 0, 9).set("key end", 1, 8).refusal(), HasSubstr("outside its text"));
  EXPECT_THAT(refusal("key end", 1, 9), HasSubstr("do not end together"));
  EXPECT_THAT(refusal("field end", 0, 4), HasSubstr("not there"));
  EXPECT_THAT(HandMadeBlock().set("field end", 0, 3).set("field end", 1, 2).refusal(), HasSubstr("not there"));
  EXPECT_THAT(refusal("field end", 1, 2), HasSubstr("do not end together"));
  EXPECT_THAT(refusal("entry points end", 0, 101), HasSubstr("entry points that are not there"));
  EXPECT_THAT(refusal("entry points end", 1, 99), HasSubstr("entry points that are not there"));
  EXPECT_THAT(refusal("entry points end", 1, 101), HasSubstr("entry points that are not there"));
  EXPECT_THAT(refusal("chunk end", 2, 4), HasSubstr("not there"));
  EXPECT_THAT(HandMadeBlock().set("chunk end", 0, 1).set("chunk end", 1, 0).refusal(), HasSubstr("not there"));
  EXPECT_THAT(refusal("chunk end", 2, 2), HasSubstr("too few"));
  EXPECT_THAT(refusal("chunk end", 2, 0), HasSubstr("do not end together"));
}

}  // namespace
}  // namespace stoker
