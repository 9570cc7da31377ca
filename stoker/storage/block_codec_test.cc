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
  } else if (codec != BlockCodec::kStored) {
    out = deflated(codec, text);
  }
  return out;
}

class EveryBlockCodec : public ::testing::TestWithParam<BlockCodec> {};

INSTANTIATE_TEST_SUITE_P(All, EveryBlockCodec,
                         ::testing::Values(BlockCodec::kStored, BlockCodec::kDeflate, BlockCodec::kZlib,
                                           BlockCodec::kGzip, BlockCodec::kZstd, BlockCodec::kSnappy, BlockCodec::kLz4),
                         [](const auto& codec) { return std::string(block_codec_name(codec.param)); });

TEST_P(EveryBlockCodec, GivesBackWhatWasCompressed) {
  const std::string text = text_to_compress();
  const std::vector<std::uint8_t> bytes = decompressed(GetParam(), compressed(GetParam(), text), text.size());
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), text);
  EXPECT_TRUE(decompressed(GetParam(), compressed(GetParam(), ""), 0).empty());
}

TEST_P(EveryBlockCodec, RefusesAnotherLength) {
  const std::string text = text_to_compress();
  const std::vector<std::uint8_t> stored = compressed(GetParam(), text);
  for (const std::uint64_t length : {text.size() - 1, text.size() + 1, std::size_t{0}}) {
    EXPECT_THAT(error_of([&] { decompressed(GetParam(), stored, length); }).what(), HasSubstr("damaged"));
  }
}

TEST_P(EveryBlockCodec, RefusesTruncatedData) {
  const std::string text = text_to_compress();
  const std::vector<std::uint8_t> stored = compressed(GetParam(), text);
  for (std::size_t left = 0; left < stored.size(); left += 1 + stored.size() / 200) {
    EXPECT_THAT(error_of([&] { decompressed(GetParam(), Bytes(stored).first(left), text.size()); }).what(),
                HasSubstr("damaged"))
        << left;
  }
}

TEST_P(EveryBlockCodec, DoesNotBelieveInHugeLengths) {
  EXPECT_THAT(error_of([&] { decompressed(GetParam(), as_bytes("x"), kBlockBytesMax + 1); }).what(),
              HasSubstr("at most"));
}

}  // namespace
}  // namespace stoker
