#include "stoker/codec/tiff/tiff_testing.h"

#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <random>

namespace stoker {
namespace {

void require_tiff(bool holds) {
  if (!holds) std::abort();
}

/// A file in memory, as libtiff writes it.
struct MemoryFile {
  std::vector<std::uint8_t> bytes;
  std::size_t at = 0;

  static MemoryFile& of(thandle_t handle) { return *static_cast<MemoryFile*>(handle); }
  static tmsize_t read(thandle_t handle, void* into, tmsize_t count) {
    MemoryFile& file = of(handle);
    const std::size_t left = file.bytes.size() - std::min(file.at, file.bytes.size());
    const std::size_t given = std::min(left, static_cast<std::size_t>(count));
    if (given > 0) std::memcpy(into, file.bytes.data() + file.at, given);
    file.at += given;
    return static_cast<tmsize_t>(given);
  }
  static tmsize_t write(thandle_t handle, void* from, tmsize_t count) {
    MemoryFile& file = of(handle);
    const auto size = static_cast<std::size_t>(count);
    file.bytes.resize(std::max(file.bytes.size(), file.at + size));
    std::memcpy(file.bytes.data() + file.at, from, size);
    file.at += size;
    return count;
  }
  static toff_t seek(thandle_t handle, toff_t to, int whence) {
    MemoryFile& file = of(handle);
    const std::size_t from = whence == SEEK_CUR ? file.at : whence == SEEK_END ? file.bytes.size() : 0;
    return file.at = from + static_cast<std::size_t>(to);
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t handle) { return of(handle).bytes.size(); }
};

/// Samples of a picture, each as large as its bits allow.
struct Samples {
  const TestTiff& tiff;
  std::vector<std::uint16_t> values;

  explicit Samples(const TestTiff& options, unsigned seed) : tiff(options) {
    std::mt19937 random(seed);
    const std::size_t count = static_cast<std::size_t>(tiff.width) * static_cast<std::size_t>(tiff.height) *
                              static_cast<std::size_t>(tiff.samples);
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(static_cast<std::uint16_t>(random() & ((1u << tiff.bits) - 1)));
    }
    if (!tiff.extra || tiff.samples % 2) return;
    // A colour is no larger than the alpha that it is multiplied by.
    const auto samples = static_cast<std::size_t>(tiff.samples);
    for (std::size_t pixel = 0; pixel < count; pixel += samples) {
      const std::uint16_t alpha = values[pixel + samples - 1];
      for (std::size_t c = 0; c + 1 < samples; ++c) values[pixel + c] = std::min(values[pixel + c], alpha);
    }
  }
  unsigned at(int x, int y, int sample) const {
    if (x >= tiff.width || y >= tiff.height) return 0;
    return values[static_cast<std::size_t>((y * tiff.width + x) * tiff.samples + sample)];
  }

  /// A segment's rows, as libtiff takes them: the samples from `first` to `last`.
  std::vector<std::uint8_t> segment(int x, int y, int width, int height, int first, int last) const {
    std::vector<std::uint8_t> bytes;
    for (int row = y; row < y + height; ++row) {
      unsigned pending = 0;
      int bits = 0;
      for (int column = x; column < x + width; ++column) {
        for (int sample = first; sample < last; ++sample) {
          const unsigned value = at(column, row, sample);
          if (tiff.bits == 16) {  // in the machine's order
            bytes.push_back(static_cast<std::uint8_t>(value));
            bytes.push_back(static_cast<std::uint8_t>(value >> 8));
            continue;
          }
          pending = pending << tiff.bits | value;
          bits += tiff.bits;
          if (bits == 8) bytes.push_back(static_cast<std::uint8_t>(pending)), pending = 0, bits = 0;
        }
      }
      if (bits > 0) bytes.push_back(static_cast<std::uint8_t>(pending << (8 - bits)));
    }
    return bytes;
  }
};

using Palette = std::array<std::array<std::uint16_t, 256>, 3>;

Palette test_palette() {
  Palette palette{};
  std::mt19937 random(9);
  for (auto& channel : palette) {
    for (std::uint16_t& value : channel) value = static_cast<std::uint16_t>(random());
  }
  return palette;
}

void set_fields(TIFF* file, const TestTiff& tiff) {
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, tiff.width);
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, tiff.height);
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, tiff.bits);
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, tiff.samples);
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC, tiff.photometric);
  TIFFSetField(file, TIFFTAG_COMPRESSION, tiff.compression);
  TIFFSetField(file, TIFFTAG_PLANARCONFIG, tiff.planar);
  TIFFSetField(file, TIFFTAG_ORIENTATION, tiff.orientation);
  TIFFSetField(file, TIFFTAG_FILLORDER, tiff.fill_order);
  if (tiff.predictor != 1) TIFFSetField(file, TIFFTAG_PREDICTOR, tiff.predictor);
  if (tiff.compression == COMPRESSION_JPEG) {
    TIFFSetField(file, TIFFTAG_JPEGQUALITY, tiff.quality);
    if (tiff.photometric == PHOTOMETRIC_YCBCR) TIFFSetField(file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  const int colors = tiff.photometric == 5 ? 4 : tiff.photometric == 2 || tiff.photometric == 6 ? 3 : 1;
  if (tiff.samples > colors) {
    std::vector<std::uint16_t> extra(static_cast<std::size_t>(tiff.samples - colors), 0);
    extra[0] = static_cast<std::uint16_t>(tiff.extra);
    TIFFSetField(file, TIFFTAG_EXTRASAMPLES, static_cast<int>(extra.size()), extra.data());
  }
  if (tiff.photometric == PHOTOMETRIC_PALETTE) {
    const Palette palette = test_palette();
    TIFFSetField(file, TIFFTAG_COLORMAP, palette[0].data(), palette[1].data(), palette[2].data());
  }
  if (tiff.tile) {
    TIFFSetField(file, TIFFTAG_TILEWIDTH, tiff.tile);
    TIFFSetField(file, TIFFTAG_TILELENGTH, tiff.tile);
  } else {
    TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, tiff.rows_per_strip);
  }
}

void write_segments(TIFF* file, const Samples& samples) {
  const TestTiff& tiff = samples.tiff;
  const int width = tiff.tile ? tiff.tile : tiff.width, height = tiff.tile ? tiff.tile : tiff.rows_per_strip;
  std::uint32_t number = 0;
  for (int plane = 0; plane < (tiff.planar == 2 ? tiff.samples : 1); ++plane) {
    const int first = tiff.planar == 2 ? plane : 0, last = tiff.planar == 2 ? plane + 1 : tiff.samples;
    for (int y = 0; y < tiff.height; y += height) {
      const int rows = tiff.tile ? height : std::min(height, tiff.height - y);
      for (int x = 0; x < tiff.width; x += width) {
        auto segment = samples.segment(x, y, width, rows, first, last);
        const auto size = static_cast<tmsize_t>(segment.size());
        const tmsize_t written = tiff.tile ? TIFFWriteEncodedTile(file, number, segment.data(), size)
                                           : TIFFWriteEncodedStrip(file, number, segment.data(), size);
        require_tiff(written == size);
        ++number;
      }
    }
  }
}

std::array<std::uint8_t, 3> color_at(const Samples& samples, int x, int y) {
  const TestTiff& tiff = samples.tiff;
  const auto sample = [&](int i) {
    const unsigned value = samples.at(x, y, i);
    return tiff.bits == 16 ? value >> 8 : value;
  };
  const auto divided = [&](unsigned value, unsigned alpha) {
    if (tiff.extra != 1) return static_cast<std::uint8_t>(value);
    return static_cast<std::uint8_t>(alpha ? std::min(255u, value * 255 / alpha) : 0);
  };
  const unsigned most = tiff.bits < 8 ? (1u << tiff.bits) - 1 : 255;
  std::array<std::uint8_t, 3> rgb{};
  if (tiff.photometric <= 1) {
    const unsigned grey = sample(0) * 255 / most;
    const unsigned shown = tiff.photometric == 0 ? 255 - grey : grey;
    rgb.fill(divided(shown, tiff.samples > 1 ? sample(1) : 255));
  } else if (tiff.photometric == PHOTOMETRIC_PALETTE) {
    const Palette palette = test_palette();
    for (std::size_t c = 0; c < 3; ++c) rgb[c] = static_cast<std::uint8_t>(palette[c][sample(0)] >> 8);
  } else if (tiff.photometric == PHOTOMETRIC_SEPARATED) {
    for (int c = 0; c < 3; ++c) {
      const double light = 255 - sample(3);  // what black lets through, of which the ink takes its share
      rgb[static_cast<std::size_t>(c)] =
          static_cast<std::uint8_t>(light - static_cast<int>(light * sample(c) / 255 + 0.5));
    }
  } else {
    for (int c = 0; c < 3; ++c) {
      rgb[static_cast<std::size_t>(c)] = divided(sample(c), tiff.samples > 3 ? sample(3) : 255);
    }
  }
  return rgb;
}

void add_layouts(std::vector<TestTiff>& kinds) {
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
                                COMPRESSION_PACKBITS, COMPRESSION_ZSTD}) {
    const std::string name = "compression_" + std::to_string(compression);
    kinds.push_back({.name = name, .compression = compression});
    kinds.push_back({.name = name + "_tiles", .compression = compression, .tile = 16});
    kinds.push_back({.name = name + "_planes", .compression = compression, .planar = 2});
    kinds.push_back(
        {.name = name + "_16_planes_tiles", .bits = 16, .compression = compression, .tile = 32, .planar = 2});
    kinds.push_back({.name = name + "_reversed", .compression = compression, .fill_order = 2});
    kinds.push_back({.name = name + "_big_endian", .bits = 16, .compression = compression, .mode = "wb"});
  }
  for (const int compression : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD}) {
    const std::string name = "differences_" + std::to_string(compression);
    kinds.push_back({.name = name, .compression = compression, .predictor = 2});
    kinds.push_back(
        {.name = name + "_16_big_endian", .bits = 16, .compression = compression, .predictor = 2, .mode = "wb"});
    kinds.push_back(
        {.name = name + "_tiles_planes", .compression = compression, .tile = 16, .planar = 2, .predictor = 2});
  }
  for (const int compression : {COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4}) {
    for (const int fill_order : {1, 2}) {
      kinds.push_back({.name = "fax_" + std::to_string(compression) + "_" + std::to_string(fill_order),
                       .photometric = 0,
                       .samples = 1,
                       .bits = 1,
                       .compression = compression,
                       .fill_order = fill_order});
    }
  }
  kinds.push_back({.name = "bigtiff", .mode = "w8"});
  kinds.push_back({.name = "bigtiff_big_endian", .bits = 16, .tile = 16, .mode = "wb8"});
  kinds.push_back({.name = "one_strip", .rows_per_strip = 23});
  kinds.push_back({.name = "rows", .compression = COMPRESSION_LZW, .rows_per_strip = 1});
  kinds.push_back({.name = "dot", .width = 1, .height = 1, .rows_per_strip = 1});
  kinds.push_back({.name = "large_tile", .width = 3, .height = 2, .tile = 256});
}

}  // namespace

EncodedTiff make_test_tiff(const TestTiff& options, unsigned seed) {
  MemoryFile memory;
  TIFFOpenOptions* const open = TIFFOpenOptionsAlloc();
  const auto ignore = [](TIFF*, void*, const char*, const char*, va_list) {
    return 1;
  };  // that Deflate has two numbers
  TIFFOpenOptionsSetWarningHandlerExtR(open, ignore, nullptr);
  TIFF* const file = TIFFClientOpenExt("test", options.mode.c_str(), &memory, MemoryFile::read, MemoryFile::write,
                                       MemoryFile::seek, MemoryFile::close, MemoryFile::size, nullptr, nullptr, open);
  TIFFOpenOptionsFree(open);
  require_tiff(file != nullptr);
  set_fields(file, options);
  const Samples samples(options, seed);
  write_segments(file, samples);
  require_tiff(TIFFWriteDirectory(file) == 1);
  TIFFClose(file);
  EncodedTiff encoded{std::move(memory.bytes),
                      {.width = options.width, .height = options.height, .channels = 3, .pixels = {}}};
  for (int y = 0; y < options.height; ++y) {
    for (int x = 0; x < options.width; ++x) {
      for (const std::uint8_t value : color_at(samples, x, y)) encoded.rgb.pixels.push_back(value);
    }
  }
  return encoded;
}

std::vector<TestTiff> kinds_of_tiff() {
  std::vector<TestTiff> kinds;
  add_layouts(kinds);
  for (const int photometric : {0, 1}) {
    const std::string name = photometric ? "black_is_zero_" : "white_is_zero_";
    for (const int bits : {1, 2, 4, 8, 16}) {
      kinds.push_back({.name = name + std::to_string(bits), .photometric = photometric, .samples = 1, .bits = bits});
    }
    for (const int extra : {0, 1, 2}) {
      kinds.push_back(
          {.name = name + "alpha_" + std::to_string(extra), .photometric = photometric, .samples = 2, .extra = extra});
    }
  }
  for (const int bits : {1, 2, 4, 8}) {
    kinds.push_back({.name = "palette_" + std::to_string(bits), .photometric = 3, .samples = 1, .bits = bits});
  }
  kinds.push_back({.name = "palette_alpha", .photometric = 3, .samples = 2, .extra = 2});
  for (const int bits : {8, 16}) {
    const std::string name = std::to_string(bits);
    for (const int extra : {0, 1, 2}) {
      kinds.push_back(
          {.name = "rgba_" + name + "_" + std::to_string(extra), .samples = 4, .bits = bits, .extra = extra});
    }
    kinds.push_back({.name = "rgb_and_3_" + name, .samples = 6, .bits = bits});
    kinds.push_back({.name = "cmyk_" + name, .photometric = 5, .samples = 4, .bits = bits});
    kinds.push_back({.name = "cmyk_and_2_" + name, .photometric = 5, .samples = 6, .bits = bits});
  }
  return kinds;
}

}  // namespace stoker
