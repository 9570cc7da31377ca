#include "stoker/codec/raw_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/codec/npy.h"
#include "stoker/codec/plain_decode.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

std::vector<std::uint8_t> array_of(int width, int height, int channels) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height * channels));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7 + 1);
  std::vector<std::uint8_t> encoded;
  encode_npy(interleaved_view<const std::uint8_t>(pixels.data(), width, height, channels), encoded);
  return encoded;
}

/// An array of `bytes` zeros below a header of numpy's own making.
std::vector<std::uint8_t> with_header(std::string dictionary, std::size_t bytes) {
  dictionary += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(dictionary.size() & 255);
  text += static_cast<char>(dictionary.size() >> 8);
  text += dictionary;
  text.append(bytes, '\0');
  return {text.begin(), text.end()};
}

TEST(Npy, ReadsBackWhatItWrote) {
  for (const int channels : {1, 3, 4}) {
    const std::vector<std::uint8_t> encoded = array_of(5, 3, channels);
    const NpyPixels pixels = read_npy_header(encoded);
    EXPECT_EQ(pixels.width, 5);
    EXPECT_EQ(pixels.height, 3);
    EXPECT_EQ(pixels.channels, channels);
    EXPECT_EQ(pixels.data_offset % 64, 0u);
    EXPECT_EQ(encoded[pixels.data_offset + 1], 8);
  }
}

TEST(Npy, WritesPixelsThatDoNotLieSideBySide) {
  const std::vector<std::uint8_t> pixels = {1, 2, 3, 4, 5, 6};
  ImageView mirrored = interleaved_view<const std::uint8_t>(pixels.data(), 2, 1, 3);
  mirrored.pixels = mirrored.at(1, 0);
  mirrored.column_stride = -3;
  std::vector<std::uint8_t> encoded;
  encode_npy(mirrored, encoded);
  EXPECT_EQ(std::vector<std::uint8_t>(encoded.end() - 6, encoded.end()), (std::vector<std::uint8_t>{4, 5, 6, 1, 2, 3}));
}

TEST(Npy, RefusesArraysThatAreNoPictures) {
  const std::string good = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 3), }";
  EXPECT_EQ(read_npy_header(with_header(good, 18)).width, 3);
  const auto reason = [](const std::string& header, std::size_t bytes) {
    const Error error = error_of([&] { read_npy_header(with_header(header, bytes)); });
    EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
    return error.message();
  };
  EXPECT_THAT(reason(good, 17), HasSubstr("needs 18 bytes, but it has 17"));
  EXPECT_THAT(reason(good, 19), HasSubstr("needs 18 bytes, but it has 19"));
  EXPECT_THAT(reason("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 3), }", 72),
              HasSubstr("'<f4', not uint8"));
  EXPECT_THAT(reason("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 3), }", 18),
              HasSubstr("column by column"));
  EXPECT_THAT(reason("{'descr': '|u1', 'fortran_order': False, 'shape': (18,), }", 18), HasSubstr("height x width"));
  EXPECT_THAT(reason("{'descr': '|u1', 'fortran_order': False, 'shape': (3, 3, 2), }", 18), HasSubstr("2 channels"));
  EXPECT_THAT(reason("{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3, 3), }", 0), HasSubstr("shape"));
  EXPECT_THAT(reason("{'descr': '|u1', 'fortran_order': False, }", 0), HasSubstr("no 'shape'"));
}

TEST(Npy, NamesEveryTruncation) {
  const std::vector<std::uint8_t> whole = array_of(4, 4, 3);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(error_of([&] { read_npy_header(Bytes(whole).first(length)); }).kind(), ErrorKind::kBadSample) << length;
  }
}

TEST(RawDecoder, ShowsWindowsOfColourGreyAndAlpha) {
  for (const int channels : {1, 3, 4}) {
    const std::vector<std::uint8_t> encoded = array_of(6, 4, channels);
    AnyImageDecoder decoder;
    const ImageFacts facts = decoder.read_facts(encoded);
    EXPECT_EQ(facts.codec, Codec::kRaw);
    const ImageView window = decoder.decode_rgb(encoded, facts, {2, 1, 3, 2});
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 3; ++x) {
        for (int c = 0; c < 3; ++c) {
          const int index = ((y + 1) * 6 + x + 2) * channels + (channels == 1 ? 0 : c);
          EXPECT_EQ(*window.at(x, y, c), static_cast<std::uint8_t>(index * 7 + 1));
        }
      }
    }
  }
}

}  // namespace
}  // namespace stoker
