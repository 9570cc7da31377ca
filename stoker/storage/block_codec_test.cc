#include "stoker/storage/block_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <lz4.h>
#include <snappy.h>
#include <zstd.h>

#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/storage/block_testing.h"
#include "stoker/storage/lzf_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

std::string text_to_compress() {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i * i % 977) + ' ';
  return text;
}

std::vector<std::uint8_t> deflated(BlockCodec codec, const std::string& text) {
  libdeflate_compressor* state = libdeflate_alloc_compressor(6);
  std::vector<std::uint8_t> out(libdeflate_gzip_compress_bound(state, text.size()));
  const auto compress = codec == BlockCodec::kDeflate ? libdeflate_deflate_compress
                        : codec == BlockCodec::kZlib  ? libdeflate_zlib_compress
                                                      : libdeflate_gzip_compress;
  out.resize(compress(state, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(state);
  return out;
}

std::string shuffled(const std::string& text, std::size_t value_bytes) {
  std::string out;
  const std::size_t whole = text.size() / value_bytes * value_bytes;
  for (std::size_t byte = 0; byte < value_bytes; ++byte) {
    for (std::size_t i = byte; i < whole; i += value_bytes) out += text[i];
  }
  return out + text.substr(whole);
}

std::vector<std::uint8_t> compressed(BlockCodec codec, const std::string& text) {
  std::vector<std::uint8_t> out(text.begin(), text.end());
  if (codec == BlockCodec::kZstd) {
    out.resize(ZSTD_compressBound(text.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  } else if (codec == BlockCodec::kSnappy) {
    std::string snapped;
    snappy::Compress(text.data(), text.size(), &snapped);
    out.assign(snapped.begin(), snapped.end());
  } else if (codec == BlockCodec::kLz4) {
    out.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))));
    out.resize(
        static_cast<std::size_t>(LZ4_compress_default(text.data(), reinterpret_cast<char*>(out.data()),
                                                      static_cast<int>(text.size()), static_cast<int>(out.size()))));
  } else if (codec == BlockCodec::kLz4Frame) {
    out = compressed_as_lz4_frame(as_bytes(text));
  } else if (codec == BlockCodec::kLzf) {
    out = lzf_compressed(as_bytes(text));
  } else if (codec != BlockCodec::kStored) {
    out = deflated(codec, text);
  }
  return out;
}

std::vector<std::uint8_t> stored_by(BlockCodec codec, const std::string& text) {
  for (const std::size_t value_bytes : {2u, 4u, 8u}) {
    for (const BlockCodec inner : {BlockCodec::kZlib, BlockCodec::kLzf, BlockCodec::kStored}) {
      if (shuffled_codec(inner, value_bytes) != codec) continue;
      return compressed(inner, shuffled(text, value_bytes));
    }
  }
  return compressed(codec, text);
}

class EveryBlockCodec : public ::testing::TestWithParam<BlockCodec> {};

std::vector<BlockCodec> all_codecs() {
  std::vector<BlockCodec> all;
  for (std::uint8_t number = 0; number < kBlockCodecs; ++number) all.push_back(static_cast<BlockCodec>(number));
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, EveryBlockCodec, ::testing::ValuesIn(all_codecs()),
                         [](const auto& codec) { return std::string(block_codec_name(codec.param)); });

TEST_P(EveryBlockCodec, GivesBackWhatWasCompressed) {
  const std::string text = text_to_compress();
  const std::vector<std::uint8_t> bytes = decompressed(GetParam(), stored_by(GetParam(), text), text.size());
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), text);
  EXPECT_TRUE(decompressed(GetParam(), stored_by(GetParam(), ""), 0).empty());
}

TEST_P(EveryBlockCodec, RefusesAnotherLength) {
  const std::string text = text_to_compress();
  const std::vector<std::uint8_t> stored = stored_by(GetParam(), text);
  for (const std::uint64_t length : {text.size() - 1, text.size() + 1, std::size_t{0}}) {
    EXPECT_THAT(error_of([&] { decompressed(GetParam(), stored, length); }).what(), HasSubstr("damaged"));
  }
}

TEST_P(EveryBlockCodec, RefusesTruncatedData) {
  const std::string text = text_to_compress();
  const std::vector<std::uint8_t> stored = stored_by(GetParam(), text);
  for (std::size_t left = 0; left < stored.size(); left += 1 + stored.size() / 200) {
    EXPECT_THAT(error_of([&] { decompressed(GetParam(), Bytes(stored).first(left), text.size()); }).what(),
                HasSubstr("damaged"))
        << left;
  }
}

TEST_P(EveryBlockCodec, DoesNotMakeMoreOfAByteThanItSays) {
  const std::string same(1 << 20, 'x');
  const std::size_t stored = stored_by(GetParam(), same).size();
  EXPECT_LE(same.size() / stored, expansion_max(GetParam()));
  EXPECT_GE(same.size() / stored, expansion_max(GetParam()) / 16) << "it says too much";
}

TEST_P(EveryBlockCodec, DoesNotBelieveInHugeLengths) {
  EXPECT_THAT(error_of([&] { decompressed(GetParam(), as_bytes("x"), kBlockBytesMax + 1); }).what(),
              HasSubstr("at most"));
}

TEST(BlockCodec, HasNumbersForShuffledValuesOfTwoFourAndEightBytes) {
  EXPECT_EQ(shuffled_codec(BlockCodec::kZstd, 1), BlockCodec::kZstd);
  EXPECT_EQ(shuffled_codec(BlockCodec::kLzf, 4), BlockCodec::kLzfShuffled4);
  EXPECT_EQ(shuffled_codec(BlockCodec::kStored, 8), BlockCodec::kShuffled8);
  EXPECT_EQ(shuffled_codec(BlockCodec::kZlib, 3), std::nullopt);
  EXPECT_EQ(shuffled_codec(BlockCodec::kZstd, 2), std::nullopt);
}

TEST(BlockCodec, ReadsReferencesOfLzf) {
  const auto read = [](const std::string& stored, std::size_t length) {
    const std::vector<std::uint8_t> bytes = decompressed(BlockCodec::kLzf, as_bytes(stored), length);
    return std::string(bytes.begin(), bytes.end());
  };
  using namespace std::string_literals;
  EXPECT_EQ(read("\x02"
                 "abc"
                 "\x20\x02"s,
                 6),
            "abcabc");
  EXPECT_EQ(read("\x00"
                 "a"
                 "\xe0\x05\x00"s,
                 15),
            std::string(15, 'a'))
      << "reaches into what it makes";
  EXPECT_THAT(error_of([&] {
                read(
                    "\x00"
                    "a"
                    "\x20\x01"s,
                    4);
              }).what(),
              HasSubstr("lzf data are damaged"))
      << "begins in front of the first byte";
  EXPECT_THAT(error_of([&] {
                read(
                    "\x00"
                    "a"
                    "\xe0\x05"s,
                    15);
              }).what(),
              HasSubstr("damaged"))
      << "is cut";
}

}  // namespace
}  // namespace stoker
