#include "stoker/codec/png_testing.h"

#include <spng.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

#include "stoker/base/error.h"

namespace stoker {
namespace {

void check(int error) {
  if (error != SPNG_OK) fail(ErrorKind::kUsage, "test PNG: {}", spng_strerror(error));
}

int channels_of(int color_type) { return color_type == 2 ? 3 : color_type == 4 ? 2 : color_type == 6 ? 4 : 1; }

std::array<std::uint8_t, 3> palette_entry(unsigned index) {
  return {static_cast<std::uint8_t>(index * 37 + 11), static_cast<std::uint8_t>(255 - index * 3),
          static_cast<std::uint8_t>(index * index)};
}

// What the standard says a sample stands for, in 8 bits; of 16, the high byte.
std::uint8_t to_8_bits(unsigned sample, int bit_depth) {
  if (bit_depth == 16) return static_cast<std::uint8_t>(sample >> 8);
  return static_cast<std::uint8_t>(sample * 255 / ((1u << bit_depth) - 1));
}

// Samples of one row, most significant bits first, as PNG packs them.
std::vector<std::uint8_t> pack_row(const std::vector<unsigned>& samples, int bit_depth) {
  std::vector<std::uint8_t> row((samples.size() * static_cast<std::size_t>(bit_depth) + 7) / 8);
  std::size_t bit = 0;
  for (const unsigned sample : samples) {
    for (int b = bit_depth - 1; b >= 0; --b, ++bit) {
      row[bit / 8] = static_cast<std::uint8_t>(row[bit / 8] | (sample >> b & 1u) << (7 - bit % 8));
    }
  }
  return row;
}

std::vector<std::uint8_t> compress(const TestPng& options, int width, int height,
                                   const std::vector<std::uint8_t>& raw) {
  spng_ctx* context = spng_ctx_new(SPNG_CTX_ENCODER);
  spng_ihdr header{};
  header.width = static_cast<std::uint32_t>(width);
  header.height = static_cast<std::uint32_t>(height);
  header.bit_depth = static_cast<std::uint8_t>(options.bit_depth);
  header.color_type = static_cast<std::uint8_t>(options.color_type);
  header.interlace_method = options.interlaced ? SPNG_INTERLACE_ADAM7 : SPNG_INTERLACE_NONE;
  check(spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1));
  check(spng_set_ihdr(context, &header));
  if (options.color_type == 3) {
    spng_plte palette{};
    palette.n_entries = 1u << options.bit_depth;
    for (unsigned i = 0; i < palette.n_entries; ++i) {
      const auto [red, green, blue] = palette_entry(i);
      palette.entries[i] = {red, green, blue, 255};
    }
    check(spng_set_plte(context, &palette));
  }
  if (options.transparent_key) {
    spng_trns key{};
    key.n_type3_entries = 2;
    check(spng_set_trns(context, &key));
  }
  check(spng_encode_image(context, raw.data(), raw.size(), SPNG_FMT_RAW, SPNG_ENCODE_FINALIZE));
  std::size_t size = 0;
  int error = SPNG_OK;
  auto* const bytes = static_cast<std::uint8_t*>(spng_get_png_buffer(context, &size, &error));
  check(error);
  std::vector<std::uint8_t> encoded(bytes, bytes + size);
  std::free(bytes);
  spng_ctx_free(context);
  return encoded;
}

}  // namespace

EncodedPng make_test_png(const TestPng& options, int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  const int channels = channels_of(options.color_type);
  EncodedPng png;
  png.rgb = {width, height, 3, {}};
  std::vector<std::uint8_t> raw;
  for (int y = 0; y < height; ++y) {
    std::vector<unsigned> samples;
    for (int x = 0; x < width; ++x) {
      std::array<std::uint8_t, 4> pixel{};
      for (int c = 0; c < channels; ++c) {
        const unsigned sample = static_cast<unsigned>(random()) & ((1u << options.bit_depth) - 1);
        samples.push_back(sample);
        pixel[static_cast<std::size_t>(c)] = to_8_bits(sample, options.bit_depth);
      }
      std::array<std::uint8_t, 3> rgb{pixel[0], pixel[1], pixel[2]};
      if (channels <= 2) rgb = {pixel[0], pixel[0], pixel[0]};
      if (options.color_type == 3) rgb = palette_entry(samples.back());
      png.rgb.pixels.insert(png.rgb.pixels.end(), rgb.begin(), rgb.end());
    }
    const auto row = pack_row(samples, options.bit_depth);
    raw.insert(raw.end(), row.begin(), row.end());
  }
  png.bytes = compress(options, width, height, raw);
  return png;
}

std::vector<std::uint8_t> png_chunk(const std::string& type, const std::vector<std::uint8_t>& data) {
  std::vector<std::uint8_t> chunk(12 + data.size());  // length, type, data, checksum of type and data
  const auto put_u32 = [&](std::size_t at, std::size_t value) {
    for (std::size_t i = 0; i < 4; ++i) chunk[at + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
  };
  put_u32(0, data.size());
  std::copy_n(type.begin(), 4, chunk.begin() + 4);
  std::copy(data.begin(), data.end(), chunk.begin() + 8);
  std::uint32_t crc = 0xFFFFFFFF;
  for (std::size_t i = 4; i < 8 + data.size(); ++i) {
    crc ^= chunk[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
  }
  put_u32(8 + data.size(), ~crc);
  return chunk;
}

}  // namespace stoker
