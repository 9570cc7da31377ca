// Formats and decoders tell images by their first bytes, each in a layer of its own: they must take the same for
// images.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "stoker/codec/image_decoder.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

/// All that the files of a codec begin with. Caffe's pixels are told by the format that they are in, and have no
/// beginning of their own.
std::vector<std::string_view> beginnings_of(Codec codec) {
  switch (codec) {
    case Codec::kJpeg: return {"\xFF\xD8\xFF\xE0"sv};
    case Codec::kPng: return {"\x89PNG\r\n\x1A\n\0\0\0\x0D"sv};
    case Codec::kWebp: return {"RIFF\x20\0\0\0WEBPVP8 "sv};
    case Codec::kRaw: return {"\x93NUMPY\1\0"sv};
    case Codec::kBmp:
      return {"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0"sv, "BM\x46\0\0\0\1\0\2\0\x1A\0\0\0\x0C\0\0\0"sv,
              "BM\x46\0\0\0\0\0\0\0\x46\0\0\0\x34\0\0\0"sv, "BM\x46\0\0\0\0\0\0\0\x46\0\0\0\x38\0\0\0"sv,
              "BM\x46\0\0\0\0\0\0\0\x4E\0\0\0\x40\0\0\0"sv, "BM\x46\0\0\0\0\0\0\0\x7A\0\0\0\x6C\0\0\0"sv,
              "BM\x46\0\0\0\0\0\0\0\x8A\0\0\0\x7C\0\0\0"sv};
    case Codec::kGif: return {"GIF87a\1\0"sv, "GIF89a\1\0"sv};
    case Codec::kTiff: return {"II*\0\x08\0\0\0"sv, "MM\0*\0\0\0\x08"sv, "II+\0\x08\0\0\0"sv, "MM\0+\0\x08\0\0"sv};
    case Codec::kJpeg2000: return {"\0\0\0\x0CjP  \r\n\x87\n\0\0"sv, "\xFF\x4F\xFF\x51\0\x2F"sv};
    case Codec::kAvif:
      return {
          "\0\0\0\x1C"
          "ftypavif\0\0"sv,
          "\0\0\0\x1C"
          "ftypavis\0\0"sv,
          "\0\0\0\x18"
          "ftypmif1\0\0\0\0miafavif\0\0"sv};
    case Codec::kPnm: return {"P4\n9 1\n"sv, "P5 3 2 255\n"sv, "P6\n# made\n3 2\n65535\n"sv};
    case Codec::kDatum:
    case Codec::kUnknown: break;
  }
  return {};
}

TEST(ImageBytes, AreAnImageToFormatsAsTheyAreToDecoders) {
  for (int number = 1; number <= static_cast<int>(kLastCodec); ++number) {
    const auto codec = static_cast<Codec>(number);
    EXPECT_EQ(beginnings_of(codec).empty(), codec == Codec::kDatum) << to_string(codec);
    for (const std::string_view beginning : beginnings_of(codec)) {
      EXPECT_EQ(detect_codec(as_bytes(beginning)), codec) << beginning;
      const std::string_view extension = extension_of_bytes(as_bytes(beginning));
      EXPECT_TRUE(extension == "npy" || is_image_field_name(extension)) << to_string(codec) << ' ' << beginning;
    }
  }
}

// So a beginning that only one of them knows is found, if it differs from one that both know in a byte or its length.
TEST(ImageBytes, AreAnImageToBothOrToNeitherWhateverByteIsChanged) {
  const auto expect_agreement = [](const std::string& beginning) {
    const Codec codec = detect_codec(as_bytes(beginning));
    const bool is_image = !extension_of_bytes(as_bytes(beginning)).empty();
    if (codec == Codec::kDatum || (codec == Codec::kPnm && !is_image)) return;  // of which formats ask for more
    if (is_image == (codec != Codec::kUnknown)) return;
    ADD_FAILURE() << to_string(codec) << fmt::format(": {:02x}", fmt::join(as_bytes(beginning), " "));
  };
  for (int number = 1; number <= static_cast<int>(kLastCodec); ++number) {
    for (const std::string_view beginning : beginnings_of(static_cast<Codec>(number))) {
      for (std::size_t at = 0; at < beginning.size(); ++at) {
        expect_agreement(std::string(beginning.substr(0, at)));
        for (int byte = 0; byte < 256; ++byte) {
          std::string changed(beginning);
          changed[at] = static_cast<char>(byte);
          expect_agreement(changed);
        }
      }
    }
  }
}

}  // namespace
}  // namespace stoker
