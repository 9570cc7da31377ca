#include "stoker/codec/datum_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

/// A picture of 3 x 2 pixels: its sizes and planes, and a label after them.
std::string small_datum(int channels) {
  const int bytes = 6 * channels;
  std::string message = {'\x08', static_cast<char>(channels), '\x10', 2, '\x18', 3, '\x22', static_cast<char>(bytes)};
  for (int i = 0; i < bytes; ++i) message += static_cast<char>(i * 11 + 1);
  return message + "\x28\x07";
}

TEST(DatumDecoder, ShowsPlanesOfBlueGreenAndRedAndGrey) {
  for (const int channels : {1, 3}) {
    const std::string message = small_datum(channels);
    AnyImageDecoder decoder;
    const ImageFacts facts = decoder.read_facts(as_bytes(message));
    EXPECT_EQ(facts.codec, Codec::kDatum);
    EXPECT_EQ(facts.width, 3);
    EXPECT_EQ(facts.height, 2);
    EXPECT_EQ(facts.components, channels);
    const ImageView window = decoder.decode_rgb(as_bytes(message), facts, {1, 0, 2, 2});
    EXPECT_EQ(window.channels, 3);
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 2; ++x) {
        for (int c = 0; c < 3; ++c) {
          const int plane = channels == 1 ? 0 : 2 - c;
          EXPECT_EQ(*window.at(x, y, c), static_cast<std::uint8_t>((plane * 6 + y * 3 + x + 1) * 11 + 1));
        }
      }
    }
  }
}

TEST(DatumDecoder, NamesEveryTruncation) {
  const std::string message = small_datum(3);
  for (std::size_t length = 0; length + 2 < message.size(); ++length) {
    const Error error = error_of([&] { DatumDecoder().read_facts(as_bytes(message).first(length)); });
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample) << length;
    const bool has_header = length >= 8;
    EXPECT_THAT(error.message(), HasSubstr(has_header ? "truncated: its pixels need 18 bytes" : "")) << length;
  }
}

TEST(DatumDecoder, TakesOnlySizesThatFitTheData) {
  const std::string good = small_datum(3);
  EXPECT_TRUE(has_datum_header(as_bytes(good)));
  for (const std::size_t at : {0, 1, 2, 3, 4, 5, 6, 7}) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = good;
      other[at] = static_cast<char>(other[at] ^ (1 << bit));
      EXPECT_FALSE(has_datum_header(as_bytes(other))) << "bit " << bit << " of byte " << at;
    }
  }
  // 2^31 - 1 rows and columns of three channels, with the length that 64 bits make of them.
  const std::string large(
      "\x08\x03\x10\xff\xff\xff\xff\x07\x18\xff\xff\xff\xff\x07\x22\x83\x80\x80\x80\xd0\xff\xff\xff\xff\x01", 25);
  EXPECT_FALSE(has_datum_header(as_bytes(large)));
}

TEST(DatumDecoder, KeepsTheLimits) {
  const std::string message = small_datum(3);
  DecodeLimits limits;
  limits.pixels_max = 5;
  AnyImageDecoder decoder(limits);
  EXPECT_EQ(error_of([&] { decoder.read_facts(as_bytes(message)); }).kind(), ErrorKind::kLimit);
}

}  // namespace
}  // namespace stoker
