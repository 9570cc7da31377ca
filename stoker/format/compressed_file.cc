#include "stoker/format/compressed_file.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

constexpr std::array<CompressedEnding, 6> kEndings = {{{".zstd", BlockCodec::kZstd},
                                                       {".zst", BlockCodec::kZstd},
                                                       {".gz", BlockCodec::kGzip},
                                                       {".snappy", BlockCodec::kSnappy},
                                                       {".br", std::nullopt},
                                                       {".bz2", std::nullopt}}};

constexpr std::size_t kCompressedHeadBytes = 18;  // of a zstd frame: at most

/// The size of the last member, modulo 2^32, is at the end: that of the file, if it has one member.
std::optional<std::uint64_t> gzip_length(Source& file) {
  std::array<std::uint8_t, 4> end;
  if (file.size() < kCompressedHeadBytes) return std::nullopt;
  read_fully(file, file.size() - end.size(), end);
  return load_little_endian<std::uint32_t>(end.data());
}

/// Snappy begins with it: seven bits a byte, the lowest first.
std::optional<std::uint64_t> snappy_length(Bytes head) {
  constexpr std::size_t kBytesMax = 5;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < std::min(head.size(), kBytesMax); ++i) {
    length |= std::uint64_t{head[i] & 0x7fU} << (7 * i);
    if (head[i] < 0x80) return length;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> length_of(Source& file, BlockCodec codec, Bytes head) {
  if (codec == BlockCodec::kZstd) return zstd_content_bytes(head);
  return codec == BlockCodec::kGzip ? gzip_length(file) : snappy_length(head);
}

}  // namespace

const CompressedEnding* compressed_ending(std::string_view name) {
  const auto found = std::find_if(kEndings.begin(), kEndings.end(),
                                  [&](const CompressedEnding& one) { return name.ends_with(one.ending); });
  return found == kEndings.end() ? nullptr : &*found;
}

std::optional<BlockCodec> whole_file_codec(Bytes beginning) {
  using namespace std::string_view_literals;
  const std::string_view text = as_text(beginning);
  if (text.starts_with("\x28\xb5\x2f\xfd"sv)) return BlockCodec::kZstd;
  if (text.starts_with("\x1f\x8b\x08"sv)) return BlockCodec::kGzip;
  return std::nullopt;
}

std::optional<std::uint64_t> zstd_content_bytes(Bytes head) {
  constexpr std::size_t kDescriptorAt = 4;
  if (head.size() <= kDescriptorAt) return std::nullopt;
  const unsigned descriptor = head[kDescriptorAt], size_code = descriptor >> 6;
  const bool is_single_segment = (descriptor & 0x20) != 0;
  constexpr std::array<std::size_t, 4> kDictionaryBytes = {0, 1, 2, 4};
  const std::size_t at = kDescriptorAt + 1 + (is_single_segment ? 0 : 1) + kDictionaryBytes[descriptor & 3];
  const std::size_t bytes = size_code == 0 ? (is_single_segment ? 1 : 0) : std::size_t{1} << size_code;
  if (bytes == 0 || head.size() < at + bytes) return std::nullopt;
  std::array<std::uint8_t, 8> number{};
  std::copy_n(head.begin() + static_cast<std::ptrdiff_t>(at), bytes, number.begin());
  return load_little_endian<std::uint64_t>(number.data()) + (bytes == 2 ? 256 : 0);
}

std::optional<CompressedBlock> compressed_file(Source& file) {
  std::vector<std::uint8_t> head(std::min<std::uint64_t>(file.size(), kCompressedHeadBytes));
  read_fully(file, 0, head);
  std::optional<BlockCodec> codec = whole_file_codec(head);
  if (!codec) {
    std::string name;
    assign_lower_case(name, file.name());
    const CompressedEnding* const ending = compressed_ending(name);
    if (!ending) return std::nullopt;
    codec = ending->codec;
    if (!codec) {
      fail(ErrorKind::kData,
           "'{}' is compressed in a way ('{}') that Stoker does not read; it reads zstd, gzip and snappy", file.name(),
           ending->ending.substr(1));
    }
    if (codec != BlockCodec::kSnappy) {
      fail(ErrorKind::kData, "'{}' does not begin as its name says: it is not compressed by {}", file.name(),
           block_codec_name(*codec));
    }
  }
  const std::optional<std::uint64_t> length = length_of(file, *codec, head);
  if (!length) {
    fail(ErrorKind::kData, "'{}' is truncated, or its {} data do not say how long what they hold is", file.name(),
         block_codec_name(*codec));
  }
  return CompressedBlock{.offset = 0, .stored_length = file.size(), .length = *length, .codec = *codec};
}

}  // namespace stoker
