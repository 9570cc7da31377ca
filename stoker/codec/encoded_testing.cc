#include "stoker/codec/encoded_testing.h"

#include <fmt/format.h>
#include <gif_lib.h>
#include <webp/encode.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "stoker/base/little_endian.h"
#include "stoker/base/random.h"
#include "stoker/codec/tiff/tiff_testing.h"

namespace stoker {

std::vector<std::uint8_t> noisy_pixels(int width, int height, int channels, std::uint64_t seed) {
  std::vector<std::uint8_t> pixels;
  Random random(seed, 0, 0, 0);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int ramp = (x * (3 + c) + y * (5 - c) + static_cast<int>(seed) * 17) % 190;
        pixels.push_back(static_cast<std::uint8_t>(ramp + static_cast<int>(random.below(60))));
      }
    }
  }
  return pixels;
}

std::vector<std::uint8_t> noisy_jpeg(int width, int height, std::uint64_t seed, const JpegEncodeOptions& options,
                                     int channels) {
  const std::vector<std::uint8_t> pixels = noisy_pixels(width, height, channels, seed);
  std::vector<std::uint8_t> encoded;
  encode_jpeg(interleaved_view(pixels.data(), width, height, channels), options, encoded);
  return encoded;
}

std::vector<std::uint8_t> noisy_png(int width, int height, std::uint64_t seed, int channels) {
  const std::vector<std::uint8_t> pixels = noisy_pixels(width, height, channels, seed);
  std::vector<std::uint8_t> encoded;
  encode_png(interleaved_view(pixels.data(), width, height, channels), encoded);
  return encoded;
}

std::vector<std::uint8_t> noisy_webp(int width, int height, std::uint64_t seed) {
  const std::vector<std::uint8_t> pixels = noisy_pixels(width, height, 3, seed);
  std::uint8_t* bytes = nullptr;
  const std::size_t size = WebPEncodeLosslessRGB(pixels.data(), width, height, width * 3, &bytes);
  std::vector<std::uint8_t> encoded(bytes, bytes + size);
  WebPFree(bytes);
  return encoded;
}

std::vector<std::uint8_t> noisy_bmp(int width, int height, std::uint64_t seed) {
  const std::vector<std::uint8_t> pixels = noisy_pixels(width, height, 3, seed);
  std::vector<std::uint8_t> file = {'B', 'M'};
  const auto put = [&](std::initializer_list<std::int32_t> numbers) {
    for (const std::int32_t number : numbers) append_little_endian(file, number);
  };
  const int row_bytes = (3 * width + 3) / 4 * 4;
  put({54 + row_bytes * height, 0, 54, 40, width, height, 1 | 24 << 16, 0, row_bytes * height, 0, 0, 0, 0});
  for (int y = height - 1; y >= 0; --y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 2; c >= 0; --c) file.push_back(pixels[static_cast<std::size_t>((y * width + x) * 3 + c)]);
    }
    file.resize(file.size() + static_cast<std::size_t>(row_bytes - 3 * width));
  }
  return file;
}

std::vector<std::uint8_t> noisy_pnm(int width, int height, std::uint64_t seed) {
  const std::string header = fmt::format("P6\n{} {}\n255\n", width, height);
  std::vector<std::uint8_t> file(header.begin(), header.end());
  const std::vector<std::uint8_t> pixels = noisy_pixels(width, height, 3, seed);
  file.insert(file.end(), pixels.begin(), pixels.end());
  return file;
}

std::vector<std::uint8_t> make_gif(const TestGif& image) {
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  std::vector<std::uint8_t> file;
  const auto write = [](GifFileType* gif, const GifByteType* bytes, int count) {
    auto& into = *static_cast<std::vector<std::uint8_t>*>(gif->UserData);
    into.insert(into.end(), bytes, bytes + count);
    return count;
  };
  int error = 0;
  GifFileType* const gif = EGifOpen(&file, write, &error);
  require(gif != nullptr);
  EGifSetGifVersion(gif, true);
  std::array<GifColorType, 256> colors{};
  const int count = static_cast<int>(image.palette.size() / 3);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    colors[i] = {image.palette[3 * i], image.palette[3 * i + 1], image.palette[3 * i + 2]};
  }
  ColorMapObject* const map = count > 0 ? GifMakeMapObject(count, colors.data()) : nullptr;
  const int screen_width = image.screen_width ? image.screen_width : image.width;
  const int screen_height = image.screen_height ? image.screen_height : image.height;
  require(EGifPutScreenDesc(gif, screen_width, screen_height, 8, 0, image.own_palette ? nullptr : map) == GIF_OK);
  if (image.transparent >= 0) {
    const std::uint8_t control[] = {1, 0, 0, static_cast<std::uint8_t>(image.transparent)};
    require(EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, sizeof control, control) == GIF_OK);
  }
  require(EGifPutImageDesc(gif, image.left, image.top, image.width, image.height, image.interlaced,
                           image.own_palette ? map : nullptr) == GIF_OK);
  std::vector<int> order;
  const std::array<std::array<int, 2>, 4> passes = {{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  for (const auto& pass : passes) {
    const int step = image.interlaced ? pass[1] : 1;
    for (int y = pass[0]; y < image.height; y += step) order.push_back(y);
    if (!image.interlaced) break;
  }
  for (const int y : order) {
    const auto begin = image.indices.begin() + static_cast<std::ptrdiff_t>(y) * image.width;
    std::vector<std::uint8_t> row(begin, begin + image.width);  // which giflib overwrites
    require(EGifPutLine(gif, row.data(), image.width) == GIF_OK);
  }
  require(EGifCloseFile(gif, &error) == GIF_OK);
  GifFreeMapObject(map);
  return file;
}

std::vector<std::uint8_t> noisy_tiff(int width, int height, unsigned seed) {
  return make_test_tiff({.name = "noisy", .width = width, .height = height, .compression = 8, .rows_per_strip = 8},
                        seed)
      .bytes;
}

std::vector<std::uint8_t> noisy_gif(int width, int height, std::uint64_t seed) {
  return make_gif({.width = width,
                   .height = height,
                   .palette = noisy_pixels(256, 1, 3, seed),
                   .indices = noisy_pixels(width, height, 1, seed)});
}

}  // namespace stoker
