#include "stoker/storage/block_codec.h"

#include <libdeflate.h>
#include <lz4.h>
#include <snappy.h>
#include <zstd.h>

#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "stoker/base/error.h"

namespace stoker {
namespace {

struct FreeDeflate {
  void operator()(libdeflate_decompressor* decompressor) const { libdeflate_free_decompressor(decompressor); }
};

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
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
  }
  return false;
}

}  // namespace

std::string_view block_codec_name(BlockCodec codec) {
  switch (codec) {
    case BlockCodec::kStored: return "stored";
    case BlockCodec::kDeflate: return "deflate";
    case BlockCodec::kZlib: return "zlib";
    case BlockCodec::kGzip: return "gzip";
    case BlockCodec::kZstd: return "zstd";
    case BlockCodec::kSnappy: return "snappy";
    case BlockCodec::kLz4: return "lz4";
  }
  return "unknown";
}

void decompress(BlockCodec codec, Bytes stored, MutableBytes into) {
  if (!decompress_whole(codec, stored, into)) {
    fail(ErrorKind::kData, "its {} data are damaged", block_codec_name(codec));
  }
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
