#include "cli/displayed_image.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include "stoker/ops/kernels/resample/resample.h"
#include "stoker/ops/taps.h"
#include "stoker/tensor/rounding.h"

namespace stoker {
namespace {

template <typename T>
T load(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

float f32_from_f16(std::uint16_t bits) {
  const float sign = bits >> 15 ? -1.0F : 1.0F;
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction ? std::nanf("") : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25));
}

float element(const std::uint8_t* tensor, DType dtype, std::size_t number) {
  const std::uint8_t* at = tensor + number * size_of(dtype);
  switch (dtype) {
    case DType::kU8: return *at;
    case DType::kI64: return static_cast<float>(load<std::int64_t>(at));
    case DType::kF16: return f32_from_f16(load<std::uint16_t>(at));
    case DType::kBF16: return std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(at)} << 16);
    case DType::kF32: return load<float>(at);
    default: return 0;  // no image is stored so
  }
}

RgbImage enlarged(const RgbImage& image, int factor) {
  RgbImage large(image.width * factor, image.height * factor);
  const ImageView from = image.view();
  const MutableImageView to = large.view();
  for (int y = 0; y < large.height; ++y) {
    for (int x = 0; x < large.width; ++x) std::copy_n(from.at(x / factor, y / factor), 3, to.at(x, y));
  }
  return large;
}

RgbImage shrunk(const RgbImage& image, int width, int height) {
  SamplingMap map = SamplingMap::identity(image.width, image.height);
  map.x.resize(width);
  map.y.resize(height);
  AxisTaps taps_x, taps_y;
  build_taps(map.x, Filter::kBicubic, taps_x);
  build_taps(map.y, Filter::kBicubic, taps_y);
  RgbImage small(width, height);
  Resampler().resample({image.view()}, taps_x, taps_y, {}, small.view());
  return small;
}

}  // namespace

RgbImage::RgbImage(ImageView view) : RgbImage(view.width, view.height) {
  assert(view.channels == 3);
  const MutableImageView to = this->view();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) *to.at(x, y, c) = *view.at(x, y, c);
    }
  }
}

RgbImage displayed(const SampleOutput& output, const ImageProgram& program) {
  const bool planes_first = program.format.layout == Layout::kNchw;
  const Shape& shape = output.spec.shape;
  const auto height = static_cast<std::size_t>(shape[planes_first ? 1 : 0]);
  const auto width = static_cast<std::size_t>(shape[planes_first ? 2 : 1]);
  RgbImage image(static_cast<int>(width), static_cast<int>(height));
  for (std::size_t pixel = 0; pixel < width * height; ++pixel) {
    for (std::size_t c = 0; c < ColorMap::kChannels; ++c) {
      const std::size_t number = planes_first ? c * width * height + pixel : pixel * ColorMap::kChannels + c;
      const float value = element(output.bytes.data(), output.spec.dtype, number);
      const auto channel = static_cast<std::size_t>(program.color.from[c]);
      image.pixels[pixel * ColorMap::kChannels + channel] =
          u8_from_f32((value - program.color.bias[c]) / program.color.scale[c]);
    }
  }
  return image;
}

RgbImage fitted(const RgbImage& image, int side) {
  const int longest = std::max(image.width, image.height);
  if (longest <= side) return side / longest >= 2 ? enlarged(image, side / longest) : image;
  const auto scaled = [&](int length) {
    return std::max(1, static_cast<int>(std::lround(double(length) * side / longest)));
  };
  return shrunk(image, scaled(image.width), scaled(image.height));
}

}  // namespace stoker
