#include "stoker/codec/png_reader.h"

#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/codec/image_decoder.h"

namespace stoker {
namespace {

// Chunks beside the pixels: colour profiles are the largest that real files have, at a few megabytes.
constexpr std::size_t kChunkBytesMax = std::size_t{16} << 20, kAllChunksBytesMax = std::size_t{32} << 20;

// zlib has no memory of its own, and libspng calls that damaged data. So it is noted where memory is asked for.
thread_local bool t_memory_ran_out = false;

void* noted(void* memory) {
  if (!memory) t_memory_ran_out = true;
  return memory;
}
void* allocate(std::size_t bytes) { return noted(std::malloc(bytes)); }
void* allocate_again(void* memory, std::size_t bytes) { return noted(std::realloc(memory, bytes)); }
void* allocate_zeros(std::size_t count, std::size_t bytes) { return noted(std::calloc(count, bytes)); }

spng_ctx* new_context() {
  t_memory_ran_out = false;
  spng_alloc memory{allocate, allocate_again, allocate_zeros, std::free};
  return spng_ctx_new2(&memory, 0);
}

constexpr std::size_t kSignatureBytes = 8, kChunkFrameBytes = 12;  // length, type, checksum

}  // namespace

Bytes whole_png_exif(Bytes encoded) {
  Bytes exif;
  std::size_t at = kSignatureBytes;
  while (encoded.size() >= at && encoded.size() - at >= kChunkFrameBytes) {
    const Bytes chunk = encoded.subspan(at);
    const std::size_t length =
        std::size_t{chunk[0]} << 24 | std::size_t{chunk[1]} << 16 | std::size_t{chunk[2]} << 8 | std::size_t{chunk[3]};
    if (length > chunk.size() - kChunkFrameBytes) break;
    const std::string_view type = as_text(chunk.subspan(4, 4));
    if (type == "eXIf") exif = chunk.subspan(8, length);
    if (type == "IEND") return exif;
    at += kChunkFrameBytes + length;
  }
  fail(ErrorKind::kBadSample, "the PNG data has no end-of-image chunk: the file is truncated or damaged");
}

void check_png(int error) {
  if (error == SPNG_OK) return;
  if (t_memory_ran_out) fail(ErrorKind::kMemory, "the machine has no memory left for a PNG image");
  if (error == SPNG_ECHUNK_LIMITS) {
    // libspng refuses every SPNG_CHUNK_COUNT_LIMIT above the count so far, and takes an empty chunk for too large a
    // one.
    fail(ErrorKind::kBadSample,
         "the PNG data cannot be decoded: beside the pixels they have more than 1,000 texts, more than {} bytes, or an "
         "empty Exif chunk; write the file again without them",
         kAllChunksBytesMax);
  }
  fail(ErrorKind::kBadSample, "the PNG data cannot be decoded: {}", spng_strerror(error));
}

// libspng's context serves one image only.
PngReader::PngReader(Bytes encoded, const DecodeLimits& limits) : context_(new_context(), spng_ctx_free) {
  if (!context_) fail(ErrorKind::kMemory, "no memory for a PNG decoder");
  check_png(spng_set_chunk_limits(context_.get(), kChunkBytesMax, kAllChunksBytesMax));
  check_png(spng_set_crc_action(context_.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR));
  check_png(spng_set_png_buffer(context_.get(), encoded.data(), encoded.size()));
  check_png(spng_get_ihdr(context_.get(), &header_));
  check_sides(header_.width, header_.height, limits);
}

}  // namespace stoker
