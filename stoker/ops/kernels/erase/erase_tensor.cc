#include "stoker/ops/kernels/erase/erase_tensor.h"

#include <cstddef>
#include <cstring>

#include "stoker/ops/kernels/picture/picture_kernels.h"
#include "stoker/tensor/rounding.h"

namespace stoker {
namespace {

constexpr int kChannels = ColorMap::kChannels;

// The tensor as elements of so many bytes.
template <typename Bits>
class Eraser {
 public:
  Eraser(ImageSize size, TensorFormat format, std::uint8_t* tensor)
      : size_(size),
        dtype_(format.dtype),
        tensor_(tensor),
        interleaved_(format.layout == Layout::kNhwc),
        pixels_(std::int64_t{size.width} * size.height) {}

  void erase(const EraseStep& step) {
    if (step.noise) return write_noise(step);
    Bits value[kChannels];
    for (int c = 0; c < kChannels; ++c) {
      alignas(float) std::uint8_t bytes[sizeof(float)] = {};
      store_rounded(step.value[c], dtype_, bytes, 0);
      std::memcpy(&value[c], bytes, sizeof(Bits));
    }
    if (step.grid.period == 0) {
      for (int y = step.y; y < step.y + step.height; ++y) fill(step.x, step.x + step.width, y, value);
    } else {
      for (int y = step.y; y < step.y + step.height; ++y) fill_grid(step, y, value);
    }
  }

 private:
  std::int64_t index(int x, int y, int channel) const {
    const std::int64_t pixel = std::int64_t{y} * size_.width + x;
    return interleaved_ ? pixel * kChannels + channel : channel * pixels_ + pixel;
  }

  // Pixels `begin` to `end` of a row.
  void fill(int begin, int end, int y, const Bits (&value)[kChannels]) {
    auto* const elements = reinterpret_cast<Bits*>(tensor_);
    const std::ptrdiff_t step = interleaved_ ? kChannels : 1;
    for (int c = 0; c < kChannels; ++c) {
      Bits* const row = elements + index(begin, y, c);
      for (std::ptrdiff_t i = 0; i < end - begin; ++i) row[i * step] = value[c];
    }
  }

  // The runs of the squares that a row meets.
  void fill_grid(const EraseStep& step, int y, const Bits (&value)[kChannels]) {
    const EraseGrid& grid = step.grid;
    std::int64_t u = grid.within_period(grid.u(step.x, y)), v = grid.within_period(grid.v(step.x, y));
    const int end = step.x + step.width;
    int begin = -1;  // of the run, if there is one
    for (int x = step.x; x < end; ++x) {
      const bool erases = u < grid.side && v < grid.side;
      if (erases && begin < 0) begin = x;
      if (!erases && begin >= 0) {
        fill(begin, x, y, value);
        begin = -1;
      }
      u = advanced(u + grid.cosine, grid.period);
      v = advanced(v - grid.sine, grid.period);
    }
    if (begin >= 0) fill(begin, end, y, value);
  }
  // A pixel's step is shorter than a period.
  static std::int64_t advanced(std::int64_t place, std::int64_t period) {
    return place >= period ? place - period : place < 0 ? place + period : place;
  }

  void write_noise(const EraseStep& step) {
    alignas(64) float normals[PixelNoise::kGroupDeviates];
    const PictureKernels& kernels = picture_kernels();
    std::int64_t i = 0;
    for (int c = 0; c < kChannels; ++c) {
      for (int y = step.y; y < step.y + step.height; ++y) {
        for (int x = step.x; x < step.x + step.width; ++x, ++i) {
          const std::int64_t at = i % PixelNoise::kGroupDeviates;
          if (at == 0) kernels.normals(step.key, i / PixelNoise::kGroupDeviates, normals);
          store_rounded(normals[at], dtype_, tensor_, index(x, y, c));
        }
      }
    }
  }

  ImageSize size_;
  DType dtype_;
  std::uint8_t* tensor_;
  bool interleaved_;
  std::int64_t pixels_;
};

template <typename Bits>
void erase_all(std::span<const EraseStep> steps, Eraser<Bits> eraser) {
  for (const EraseStep& step : steps) eraser.erase(step);
}

}  // namespace

void erase_tensor(std::span<const EraseStep> steps, ImageSize size, TensorFormat format, std::uint8_t* tensor) {
  switch (size_of(format.dtype)) {
    case 4: return erase_all(steps, Eraser<std::uint32_t>(size, format, tensor));
    case 2: return erase_all(steps, Eraser<std::uint16_t>(size, format, tensor));
    default: return erase_all(steps, Eraser<std::uint8_t>(size, format, tensor));
  }
}

}  // namespace stoker
