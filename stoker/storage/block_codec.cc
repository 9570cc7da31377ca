#include "stoker/storage/block_codec.h"

#include <libdeflate.h>
#include <lz4.h>
#include <lz4frame.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "stoker/base/error.h"

namespace stoker {
namespace {

struct BlockCodecTraits {
  std::string_view name;
  BlockCodec codec;             // that compressed it
  std::uint64_t expansion_max;  // of a byte
  std::size_t value_bytes = 1;  // of what was shuffled before
};

// A copy of 64 bytes takes two of snappy's, one of 264 three of LZF's, a zstd block of 128 KiB four.
constexpr std::uint64_t kMostOfDeflate = 1040, kMostOfZstd = std::uint64_t{33} << 10, kMostOfSnappy = 64,
                        kMostOfLz4 = 256, kMostOfLzf = 88;

/// By their numbers.
constexpr std::array<BlockCodecTraits, kBlockCodecs> kTraits = {{
    {"stored", BlockCodec::kStored, 1},
    {"deflate", BlockCodec::kDeflate, kMostOfDeflate},
    {"zlib", BlockCodec::kZlib, kMostOfDeflate},
    {"gzip", BlockCodec::kGzip, kMostOfDeflate},
    {"zstd", BlockCodec::kZstd, kMostOfZstd},
    {"snappy", BlockCodec::kSnappy, kMostOfSnappy},
    {"lz4", BlockCodec::kLz4, kMostOfLz4},
    {"lzf", BlockCodec::kLzf, kMostOfLzf},
    {"zlib_shuffled_2", BlockCodec::kZlib, kMostOfDeflate, 2},
    {"zlib_shuffled_4", BlockCodec::kZlib, kMostOfDeflate, 4},
    {"zlib_shuffled_8", BlockCodec::kZlib, kMostOfDeflate, 8},
    {"lzf_shuffled_2", BlockCodec::kLzf, kMostOfLzf, 2},
    {"lzf_shuffled_4", BlockCodec::kLzf, kMostOfLzf, 4},
    {"lzf_shuffled_8", BlockCodec::kLzf, kMostOfLzf, 8},
    {"shuffled_2", BlockCodec::kStored, 1, 2},
    {"shuffled_4", BlockCodec::kStored, 1, 4},
    {"shuffled_8", BlockCodec::kStored, 1, 8},
    {"lz4_frame", BlockCodec::kLz4Frame, kMostOfLz4},
}};

struct FreeDeflate {
  void operator()(libdeflate_decompressor* decompressor) const { libdeflate_free_decompressor(decompressor); }
};

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

struct FreeLz4Frame {
  void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};

bool inflate_whole(BlockCodec codec, Bytes stored, MutableBytes into) {
  const std::unique_ptr<libdeflate_decompressor, FreeDeflate> state(libdeflate_alloc_decompressor());
  if (!state) throw std::bad_alloc();
  const auto decompress_as = codec == BlockCodec::kDeflate ? libdeflate_deflate_decompress_ex
                             : codec == BlockCodec::kZlib  ? libdeflate_zlib_decompress_ex
                                                           : libdeflate_gzip_decompress_ex;
  std::size_t taken = 0, made = 0;
  const libdeflate_result result =
      decompress_as(state.get(), stored.data(), stored.size(), into.data(), into.size(), &taken, &made);
  return result == LIBDEFLATE_SUCCESS && taken == stored.size() && made == into.size();
}

bool unzstd_whole(Bytes stored, MutableBytes into) {
  const std::unique_ptr<ZSTD_DCtx, FreeZstd> state(ZSTD_createDCtx());
  if (!state) throw std::bad_alloc();
  const std::size_t made = ZSTD_decompressDCtx(state.get(), into.data(), into.size(), stored.data(), stored.size());
  return !ZSTD_isError(made) && made == into.size();
}

bool unsnap_whole(Bytes stored, MutableBytes into) {
  const auto* text = reinterpret_cast<const char*>(stored.data());
  std::size_t length = 0;
  return snappy::GetUncompressedLength(text, stored.size(), &length) && length == into.size() &&
         snappy::RawUncompress(text, stored.size(), reinterpret_cast<char*>(into.data()));
}

bool unlz4_whole(Bytes stored, MutableBytes into) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (stored.size() > kMost || into.size() > kMost) return false;
  const int made =
      LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(into.data()),
                          static_cast<int>(stored.size()), static_cast<int>(into.size()));
  return made >= 0 && static_cast<std::size_t>(made) == into.size();
}

bool unlz4_frame_whole(Bytes stored, MutableBytes into) {
  LZ4F_dctx* created = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&created, LZ4F_VERSION))) throw std::bad_alloc();
  const std::unique_ptr<LZ4F_dctx, FreeLz4Frame> state(created);
  std::size_t taken = 0, made = 0;
  while (true) {
    std::size_t takes = stored.size() - taken, makes = into.size() - made;
    const std::size_t left =
        LZ4F_decompress(state.get(), into.data() + made, &makes, stored.data() + taken, &takes, nullptr);
    if (LZ4F_isError(left)) return false;
    taken += takes;
    made += makes;
    if (left == 0) return taken == stored.size() && made == into.size();
    if (takes == 0 && makes == 0) return false;  // it is cut, or becomes more
  }
}

/// Runs of bytes, and references to bytes that were made before: a byte below 32 is the length of a run less one, the
/// upper three bits of any other are the length of a reference less two (7: a further byte adds to it), and its lower
/// five bits with the byte that follows are the distance less one.
bool unlzf_whole(Bytes stored, MutableBytes into) {
  constexpr std::size_t kRuns = 32, kLongest = 7;
  std::size_t at = 0, made = 0;
  while (at < stored.size()) {
    const std::size_t control = stored[at++];
    if (control < kRuns) {
      const std::size_t length = control + 1;
      if (length > stored.size() - at || length > into.size() - made) return false;
      std::memcpy(into.data() + made, stored.data() + at, length);
      at += length;
      made += length;
      continue;
    }
    std::size_t length = control >> 5;
    if (stored.size() - at < (length == kLongest ? 2u : 1u)) return false;
    if (length == kLongest) length += stored[at++];
    length += 2;
    const std::size_t distance = ((control & (kRuns - 1)) << 8 | stored[at++]) + 1;
    if (distance > made || length > into.size() - made) return false;
    // It may reach into what it makes.
    for (std::size_t i = 0; i < length; ++i, ++made) into[made] = into[made - distance];
  }
  return made == into.size();
}

bool copy_whole(Bytes stored, MutableBytes into) {
  if (stored.size() != into.size()) return false;
  if (!into.empty()) std::memcpy(into.data(), stored.data(), into.size());
  return true;
}

bool decompress_whole(BlockCodec codec, Bytes stored, MutableBytes into) {
  switch (codec) {
    case BlockCodec::kStored: return copy_whole(stored, into);
    case BlockCodec::kDeflate:
    case BlockCodec::kZlib:
    case BlockCodec::kGzip: return inflate_whole(codec, stored, into);
    case BlockCodec::kZstd: return unzstd_whole(stored, into);
    case BlockCodec::kSnappy: return unsnap_whole(stored, into);
    case BlockCodec::kLz4: return unlz4_whole(stored, into);
    case BlockCodec::kLz4Frame: return unlz4_frame_whole(stored, into);
    case BlockCodec::kLzf: return unlzf_whole(stored, into);
    default: return false;
  }
}

const BlockCodecTraits* traits_of(BlockCodec codec) {
  const auto number = static_cast<std::size_t>(codec);
  return number < kTraits.size() ? &kTraits[number] : nullptr;
}

}  // namespace

std::optional<BlockCodec> shuffled_codec(BlockCodec codec, std::uint64_t value_bytes) {
  if (value_bytes == 1) return codec;
  const auto found = std::find_if(kTraits.begin(), kTraits.end(), [&](const BlockCodecTraits& traits) {
    return traits.codec == codec && traits.value_bytes == value_bytes;
  });
  if (found == kTraits.end()) return std::nullopt;
  return static_cast<BlockCodec>(found - kTraits.begin());
}

std::uint64_t expansion_max(BlockCodec codec) {
  const BlockCodecTraits* const traits = traits_of(codec);
  return traits ? traits->expansion_max : 0;
}

void unshuffle(Bytes shuffled, std::size_t value_bytes, MutableBytes into) {
  const std::size_t values = shuffled.size() / value_bytes;
  for (std::size_t byte = 0; byte < value_bytes; ++byte) {
    const std::uint8_t* const from = shuffled.data() + byte * values;
    for (std::size_t i = 0; i < values; ++i) into[i * value_bytes + byte] = from[i];
  }
  const std::size_t whole = values * value_bytes;
  std::copy(shuffled.begin() + static_cast<std::ptrdiff_t>(whole), shuffled.end(),
            into.begin() + static_cast<std::ptrdiff_t>(whole));
}

std::string_view block_codec_name(BlockCodec codec) {
  const BlockCodecTraits* const traits = traits_of(codec);
  return traits ? traits->name : "unknown";
}

void decompress(BlockCodec codec, Bytes stored, MutableBytes into) {
  const BlockCodecTraits* const traits = traits_of(codec);
  const auto damaged = [&] { fail(ErrorKind::kData, "its {} data are damaged", block_codec_name(codec)); };
  if (!traits) damaged();
  if (traits->value_bytes == 1) {
    if (!decompress_whole(codec, stored, into)) damaged();
    return;
  }
  std::vector<std::uint8_t> shuffled(into.size());
  if (!decompress_whole(traits->codec, stored, shuffled)) damaged();
  unshuffle(shuffled, traits->value_bytes, into);
}

std::vector<std::uint8_t> decompressed(BlockCodec codec, Bytes stored, std::uint64_t length) {
  if (length > kBlockBytesMax) {
    fail(ErrorKind::kData, "it says that it becomes {} bytes, and Stoker decompresses at most {}", length,
         kBlockBytesMax);
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(length));
  decompress(codec, stored, bytes);
  return bytes;
}

}  // namespace stoker
