// What planar resampling costs, by instruction set: planes of a photograph's size, already decoded, to float32 NCHW of
// 224 x 224, with crops as RandomResizedCrop draws them. Each crop is run many times, and the least time of each
// counts: others may use the machine. The set-up of weights is in all figures.
//
//   bench_planar [--rounds N]
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/isa.h"
#include "stoker/base/random.h"
#include "stoker/ops/kernels/planar/planar_resample.h"
#include "stoker/tensor/scratch.h"

namespace {

using stoker::AxisMap;
using stoker::Plane;
using stoker::Planes;

constexpr int kWidth = 500, kHeight = 375, kTarget = 224, kCrops = 100;

/// The planes of one image, with the slack that kernels may read.
struct Picture {
  std::vector<std::uint8_t> samples[3];
  Planes planes;

  Picture(int factor, std::uint64_t seed) {
    stoker::Random random(seed, 0, 0, 0);
    planes.count = 3;
    for (std::size_t i = 0; i < 3; ++i) {
      Plane& plane = planes.plane[i];
      plane.across = plane.down = i == 0 ? 1 : factor;
      plane.whole_width = plane.width = (kWidth + plane.across - 1) / plane.across;
      plane.whole_height = plane.height = (kHeight + plane.down - 1) / plane.down;
      plane.row_stride = (plane.width + 63) / 64 * 64;
      samples[i].resize(static_cast<std::size_t>(plane.row_stride * plane.height) + stoker::kPlaneSlack);
      for (std::uint8_t& sample : samples[i]) sample = static_cast<std::uint8_t>(random.below(256));
      plane.samples = samples[i].data();
    }
  }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
};

AxisMap axis_of(int begin, int length, bool flip) {
  AxisMap axis = AxisMap::identity(length);
  axis.clamp_begin = begin;
  axis.clamp_end = begin + length;
  axis.target = axis.length = kTarget;
  axis.resampled = true;
  axis.flip = flip;
  return axis;
}

/// Areas of 8 to 100 percent and shapes of 3:4 to 4:3, drawn again while they do not fit.
stoker::SamplingMap draw_crop(stoker::Random& random) {
  for (;;) {
    const double area = kWidth * kHeight * random.uniform(0.08, 1);
    const double shape = std::exp(random.uniform(std::log(0.75), std::log(4 / 3.0)));
    const int width = static_cast<int>(std::lround(std::sqrt(area * shape)));
    const int height = static_cast<int>(std::lround(std::sqrt(area / shape)));
    if (width > kWidth || height > kHeight) continue;
    stoker::SamplingMap map;
    map.x =
        axis_of(static_cast<int>(random.below(static_cast<std::uint64_t>(kWidth - width + 1))), width, random.below(2));
    map.y = axis_of(static_cast<int>(random.below(static_cast<std::uint64_t>(kHeight - height + 1))), height, false);
    return map;
  }
}

stoker::ColorMap imagenet() {
  stoker::ColorMap color;
  color.scale = {1 / (255 * 0.229f), 1 / (255 * 0.224f), 1 / (255 * 0.225f)};
  color.bias = {-0.485f / 0.229f, -0.456f / 0.224f, -0.406f / 0.225f};
  return color;
}

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

/// Images a second: of each crop the least time of `rounds`, summed.
template <typename Work>
double rate_of(int rounds, const std::vector<stoker::SamplingMap>& crops, Work work) {
  std::vector<double> least(crops.size(), 1e9);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < crops.size(); ++i) {
      work(crops[i]);  // so that code and planes are at hand
      const double begin = now_us();
      work(crops[i]);
      least[i] = std::min(least[i], now_us() - begin);
    }
  }
  double total = 0;
  for (const double time : least) total += time;
  return static_cast<double>(crops.size()) / total * 1e6;
}

void measure(int rounds) {
  stoker::Random random(7, 0, 0, 0);
  std::vector<stoker::SamplingMap> crops;
  crops.reserve(kCrops);
  for (int i = 0; i < kCrops; ++i) crops.push_back(draw_crop(random));
  const Picture full(1, 1), halved(2, 2);
  constexpr std::size_t kPixels = std::size_t{kTarget} * kTarget;
  stoker::Scratch memory;  // aligned, as batches are
  std::uint8_t* const tensor = memory.bytes(3 * kPixels * sizeof(float));
  std::vector<std::uint8_t> planes(3 * kPixels), before;

  fmt::print("images a second, {} x {} to {} x {}, one thread, least of {} each\n", kWidth, kHeight, kTarget, kTarget,
             rounds);
  fmt::print("{:<9}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>12}\n", "", "4:4:4 f32", "4:2:0 f32", "4:4:4 f16", "4:4:4 u8",
             "NHWC f32", "planes", "weights");
  for (const std::string& isa : stoker::available_isas()) {
    stoker::select_isa(isa);
    stoker::PlanarResampler resampler;
    stoker::PlanarTaps taps;
    const auto converted = [&](const Picture& picture, stoker::TensorFormat format) {
      return rate_of(rounds, crops, [&](const stoker::SamplingMap& crop) {
        taps.build(crop, picture.planes);
        resampler.resample_converted(picture.planes, taps, imagenet(), format, tensor);
      });
    };
    using stoker::DType;
    using stoker::Layout;
    const double f32 = converted(full, {DType::kF32, Layout::kNchw});
    const std::vector<std::uint8_t> made(tensor, tensor + 3 * kPixels * sizeof(float));
    if (before.empty()) before = made;
    if (before != made) fmt::print("{} gives other bits than the first\n", isa);
    const double f32_420 = converted(halved, {DType::kF32, Layout::kNchw});
    const double f16 = converted(full, {DType::kF16, Layout::kNchw});
    const double u8 = converted(full, {DType::kU8, Layout::kNchw});
    const double nhwc = converted(full, {DType::kF32, Layout::kNhwc});
    const stoker::MutableImageView out{planes.data(), kTarget, kTarget, 3, kTarget, 1, kPixels};
    const double geometry = rate_of(rounds, crops, [&](const stoker::SamplingMap& crop) {
      taps.build(crop, full.planes);
      resampler.resample(full.planes, taps, out);
    });
    const double weights =
        rate_of(rounds, crops, [&](const stoker::SamplingMap& crop) { taps.build(crop, halved.planes); });
    fmt::print("{:<9}{:>11.0f}{:>11.0f}{:>11.0f}{:>11.0f}{:>11.0f}{:>11.0f}{:>9.2f} us\n", isa, f32, f32_420, f16, u8,
               nhwc, geometry, 1e6 / weights);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    int rounds = 20;
    if (argc == 3 && std::string_view(argv[1]) == "--rounds") {
      const std::string_view text = argv[2];
      std::from_chars(text.data(), text.data() + text.size(), rounds);
    }
    measure(std::max(1, rounds));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_planar: {}\n", error.what());
    return 1;
  }
  return 0;
}
