#include "stoker/tensor/image_testing.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <random>

namespace stoker {

TestImage make_test_image(int width, int height, int channels, unsigned seed) {
  std::mt19937 random(seed);
  TestImage image{width, height, channels, {}};
  image.pixels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height * channels));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int edge = (x / 5 + y / 7) % 3 == 0 ? 90 : 0;
      for (int c = 0; c < channels; ++c) {
        const int gradient = (c == 0 ? 5 * x : c == 1 ? 4 * y : 3 * (x + y)) % 160;
        const int noise = static_cast<int>(random() % 24);
        image.pixels.push_back(static_cast<std::uint8_t>(std::min(255, gradient + (c == 1 ? edge / 2 : edge) + noise)));
      }
    }
  }
  return image;
}

TestImage copy_image(ImageView view) {
  TestImage image{view.width, view.height, view.channels, {}};
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      for (int c = 0; c < view.channels; ++c) image.pixels.push_back(*view.at(x, y, c));
    }
  }
  return image;
}

std::string first_difference(ImageView got, ImageView want) {
  if (got.width != want.width || got.height != want.height || got.channels != want.channels) {
    return fmt::format("{} x {} x {} where {} x {} x {} was wanted", got.width, got.height, got.channels, want.width,
                       want.height, want.channels);
  }
  for (int y = 0; y < got.height; ++y) {
    for (int x = 0; x < got.width; ++x) {
      for (int c = 0; c < got.channels; ++c) {
        if (*got.at(x, y, c) == *want.at(x, y, c)) continue;
        return fmt::format("pixel ({}, {}), channel {}: {} where {} was wanted", x, y, c, *got.at(x, y, c),
                           *want.at(x, y, c));
      }
    }
  }
  return {};
}

std::vector<Rect> sweep_windows(int width, int height) {
  const Rect sizes[] = {{0, 0, 1, 1},     {0, 0, 2, 3},      {0, 0, 17, 16},       {0, 0, 40, 9},
                        {0, 0, width, 5}, {0, 0, 6, height}, {0, 0, width, height}};
  std::vector<Rect> windows;
  const auto add = [&](int x, int y) {
    for (int i = 0; i < 3; ++i) {  // a different three at each offset: 7 and 3 share no factor with 8, the block size
      const Rect& size = sizes[windows.size() % std::size(sizes)];
      windows.push_back({x, y, std::min(size.width, width - x), std::min(size.height, height - y)});
    }
  };
  for (int x = 0; x < width; ++x) {
    add(x, 0);
    add(x, height / 2);
  }
  for (int y = 0; y < height; ++y) {
    add(0, y);
    add(width / 2, y);
  }
  add(width - 1, height - 1);
  return windows;
}

}  // namespace stoker
