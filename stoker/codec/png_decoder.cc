#include "stoker/codec/png_decoder.h"

#include <spng.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/codec/exif.h"

namespace stoker {
namespace {

// Chunks beside the pixels: colour profiles are the largest that real files have, at a few megabytes.
constexpr std::size_t kChunkBytesMax = std::size_t{16} << 20, kAllChunksBytesMax = std::size_t{32} << 20;
constexpr std::size_t kSignatureBytes = 8, kChunkFrameBytes = 12;  // length, type, checksum

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

void check(int error) {
  if (error == SPNG_OK) return;
  if (t_memory_ran_out) fail(ErrorKind::kMemory, "the machine has no memory left for a PNG image");
  const bool limit = error == SPNG_EUSER_WIDTH || error == SPNG_EUSER_HEIGHT;
  fail(limit ? ErrorKind::kLimit : ErrorKind::kBadSample, "the PNG data cannot be decoded: {}", spng_strerror(error));
}

// libspng's context serves one image only.
class PngReader {
 public:
  PngReader(Bytes encoded, const DecodeLimits& limits) : context_(new_context(), spng_ctx_free) {
    if (!context_) fail(ErrorKind::kMemory, "no memory for a PNG decoder");
    const auto side = static_cast<std::uint32_t>(limits.side_max);
    check(spng_set_image_limits(context_.get(), side, side));
    check(spng_set_chunk_limits(context_.get(), kChunkBytesMax, kAllChunksBytesMax));
    check(spng_set_crc_action(context_.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR));
    check(spng_set_png_buffer(context_.get(), encoded.data(), encoded.size()));
    check(spng_get_ihdr(context_.get(), &header_));
  }
  const spng_ihdr& header() const { return header_; }
  spng_ctx* context() const { return context_.get(); }

 private:
  std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context_;
  spng_ihdr header_{};
};

struct ChunkFacts {
  bool has_end = false;
  Bytes exif;
};

ChunkFacts walk_chunks(Bytes encoded) {
  ChunkFacts facts;
  std::size_t at = kSignatureBytes;
  while (encoded.size() - at >= kChunkFrameBytes) {
    const Bytes chunk = encoded.subspan(at);
    const std::size_t length =
        std::size_t{chunk[0]} << 24 | std::size_t{chunk[1]} << 16 | std::size_t{chunk[2]} << 8 | std::size_t{chunk[3]};
    if (length > chunk.size() - kChunkFrameBytes) break;
    const std::string_view type = as_text(chunk.subspan(4, 4));
    if (type == "eXIf") facts.exif = chunk.subspan(8, length);
    if (type == "IEND") {
      facts.has_end = true;
      break;
    }
    at += kChunkFrameBytes + length;
  }
  return facts;
}

int components_of(const spng_ihdr& header) {
  switch (header.color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE: return 1;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA: return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: return 4;
    default: return 3;
  }
}

}  // namespace

ImageFacts PngDecoder::read_facts(Bytes encoded) {
  const PngReader reader(encoded, limits_);
  const spng_ihdr& header = reader.header();
  const ChunkFacts chunks = walk_chunks(encoded);
  if (!chunks.has_end) {
    fail(ErrorKind::kBadSample, "the PNG data has no end-of-image chunk: the file is truncated or damaged");
  }
  return {.codec = Codec::kPng,
          .width = static_cast<int>(header.width),
          .height = static_cast<int>(header.height),
          .components = components_of(header),
          .bits_per_component = header.color_type == SPNG_COLOR_TYPE_INDEXED ? 8 : header.bit_depth,
          .orientation = exif_orientation(chunks.exif)};
}

ImageView PngDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window) {
  const PngReader reader(encoded, limits_);
  check_decode_request(facts, static_cast<int>(reader.header().width), static_cast<int>(reader.header().height),
                       window);

  std::size_t size = 0;
  check(spng_decoded_image_size(reader.context(), SPNG_FMT_RGB8, &size));
  std::uint8_t* const pixels = pixels_.bytes(size);
  check(spng_decode_image(reader.context(), pixels, size, SPNG_FMT_RGB8, 0));
  check(spng_decode_chunks(reader.context()));  // the checksums of the last pixels and of what follows them
  return interleaved_view<const std::uint8_t>(pixels, facts.width, facts.height, 3).crop(window);
}

}  // namespace stoker
