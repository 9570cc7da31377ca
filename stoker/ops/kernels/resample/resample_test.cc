#include "stoker/ops/kernels/resample/resample.h"

#include <gmock/gmock.h>

#include <iterator>

#include "stoker/base/hash.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/ops/kernels/resample/convert.h"
#include "stoker/ops/kernels/resample/kernel_testing.h"
#include "stoker/ops/sampling_map_testing.h"

namespace stoker {
namespace {

constexpr std::array<std::uint8_t, 3> kFill = {201, 7, 99};

// Weighted sums as the definition says, in integers too wide to overflow.
std::uint8_t weighted(const AxisTaps& taps, int output, const auto& value_at) {
  std::int64_t sum = std::int64_t{1} << (kTapBits - 1);
  const auto weights = taps.weights_of(output);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    sum += std::int64_t{weights[k]} * value_at(taps.first[static_cast<std::size_t>(output)] + static_cast<int>(k));
  }
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kTapBits, 0, 255));
}

// The whole resampling, plainly: every source row along x, then along y. Interleaved.
std::vector<std::uint8_t> horizontal_first_plainly(const ResampleSource& source, const AxisTaps& taps_x,
                                                   const AxisTaps& taps_y) {
  const int channels = source.pixels.channels, width = taps_x.outputs, height = source.pixels.height;
  std::vector<std::uint8_t> between(static_cast<std::size_t>(width * height * channels));
  const auto at = [&](int x, int y, int c) { return static_cast<std::size_t>((y * width + x) * channels + c); };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        between[at(x, y, c)] =
            weighted(taps_x, x, [&](int column) { return *source.pixels.at(column - source.origin_x, y, c); });
      }
    }
  }
  std::vector<std::uint8_t> out(static_cast<std::size_t>(width * taps_y.outputs * channels));
  for (int y = 0; y < taps_y.outputs; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const bool padding =
            taps_x.count[static_cast<std::size_t>(x)] == 0 || taps_y.count[static_cast<std::size_t>(y)] == 0;
        out[at(x, y, c)] = padding
                               ? kFill[static_cast<std::size_t>(c)]
                               : weighted(taps_y, y, [&](int row) { return between[at(x, row - source.origin_y, c)]; });
      }
    }
  }
  return out;
}

ImageView transposed(ImageView view) {
  std::swap(view.width, view.height);
  std::swap(view.column_stride, view.row_stride);
  return view;
}

// The other order is the same of the image on its side.
std::vector<std::uint8_t> resample_plainly(const ResampleSource& source, const AxisTaps& taps_x, const AxisTaps& taps_y,
                                           PassOrder order) {
  if (order == PassOrder::kHorizontalFirst) return horizontal_first_plainly(source, taps_x, taps_y);
  const auto turned =
      horizontal_first_plainly({transposed(source.pixels), source.origin_y, source.origin_x}, taps_y, taps_x);
  const ImageView out = transposed(
      interleaved_view<const std::uint8_t>(turned.data(), taps_y.outputs, taps_x.outputs, source.pixels.channels));
  std::vector<std::uint8_t> upright;
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      for (int c = 0; c < out.channels; ++c) upright.push_back(*out.at(x, y, c));
    }
  }
  return upright;
}

struct Case {
  int channels = 3;
  int origin_x = 0, origin_y = 0, width = 1, height = 1;  // of the part of the image that is there
  AxisTaps x, y;
};

// Output memory is fenced on one side and watched on the other.
void expect_as_defined(Resampler& resampler, const Case& sample, Strides from, Strides to, std::uint32_t seed,
                       PassOrder order) {
  const FencedBytes::Fence fence = seed % 2 ? FencedBytes::Fence::kAfter : FencedBytes::Fence::kBefore;
  const FencedImage image(sample.width, sample.height, sample.channels, from, fence, seed);
  const ResampleSource source{image.view(), sample.origin_x, sample.origin_y};
  const std::vector<std::uint8_t> expected = resample_plainly(source, sample.x, sample.y, order);
  const auto name = [&] {
    return testing::Message() << sample.width << "x" << sample.height << " to " << sample.x.outputs << "x"
                              << sample.y.outputs << ", taps " << sample.x.taps_max << "x" << sample.y.taps_max
                              << ", channels " << sample.channels << ", strides " << static_cast<int>(from) << " "
                              << static_cast<int>(to) << ", order " << static_cast<int>(order);
  };
  FencedBytes bytes(expected.size(), fence);
  const MutableImageView out = view_of(bytes.data(), sample.x.outputs, sample.y.outputs, sample.channels, to);
  resampler.resample(source, sample.x, sample.y, kFill, out, order);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const int pixel = static_cast<int>(i) / sample.channels, c = static_cast<int>(i) % sample.channels;
    const int x = pixel % sample.x.outputs, y = pixel / sample.x.outputs;
    ASSERT_EQ(*out.at(x, y, c), expected[i]) << name() << ", at " << x << "," << y << " channel " << c;
  }
  if (sample.channels != 3) return;
  ColorMap color;
  color.from = {2, 0, 1};
  color.scale = {0.017f, 0.0175f, 1.0f};
  color.bias = {-2.1f, 0.25f, 0.0f};
  const auto dtype = std::array{DType::kU8, DType::kF16, DType::kBF16, DType::kF32}[seed % 4];
  const TensorFormat format{dtype, seed % 8 < 4 ? Layout::kNchw : Layout::kNhwc};
  if (seed % 3 == 0) color = ColorMap();
  std::vector<std::uint8_t> two_steps(expected.size() * size_of(format.dtype));
  convert_pixels(out, color, format, two_steps.data());
  FencedBytes fused(two_steps.size(), fence);
  resampler.resample_converted(source, sample.x, sample.y, kFill, color, format, fused.data(), order);
  ASSERT_EQ(std::memcmp(fused.data(), two_steps.data(), two_steps.size()), 0) << name();
}

void expect_as_defined(Resampler& resampler, const Case& sample, Strides from, Strides to, std::uint32_t seed) {
  for (const PassOrder order : {PassOrder::kHorizontalFirst, PassOrder::kVerticalFirst}) {
    expect_as_defined(resampler, sample, from, to, seed, order);
  }
}

constexpr Filter kFilters[] = {Filter::kNearest, Filter::kBox, Filter::kBilinear, Filter::kBicubic};

class ResamplerOn : public EachIsa {};
INSTANTIATE_TEST_SUITE_P(Isa, ResamplerOn, testing::ValuesIn(kIsaNames), isa_name);

TEST_P(ResamplerOn, EqualsTheDefinitionAtAwkwardSizes) {
  Resampler resampler;
  std::uint32_t seed = 0;
  for (const int source : {1, 2, 3, 15, 16, 17, 31, 33, 63, 64, 65, 130}) {
    for (const int target : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65}) {
      for (const Filter filter : kFilters) {
        Case sample;
        const int other_source = 1 + static_cast<int>(seed % 23), other_target = 1 + static_cast<int>(seed % 19);
        sample.width = seed % 2 ? source : other_source;
        sample.height = seed % 2 ? other_source : source;
        sample.channels = seed % 5 == 0 ? 1 : 3;
        AxisMap x = resized(sample.width, seed % 2 ? target : other_target);
        AxisMap y = resized(sample.height, seed % 2 ? other_target : target);
        x.flip = seed % 3 == 0;
        y.flip = seed % 7 == 0;
        build_taps(x, filter, sample.x);
        build_taps(y, filter, sample.y);
        expect_as_defined(resampler, sample, kAllStrides[seed % 5], kAllStrides[seed / 5 % 5], seed);
        ++seed;
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(ResamplerOn, EqualsTheDefinitionForCropsWindowsFlipsAndPadding) {
  Resampler resampler;
  Noise noise(11);
  for (std::uint32_t seed = 0; seed < rounds(300u); ++seed) {
    const auto axis = [&](int size) {
      AxisMap map = AxisMap::identity(size);
      map.clamp_begin = noise.between(0, size - 1);
      map.clamp_end = noise.between(map.clamp_begin + 1, size);
      const int cropped = map.clamp_end - map.clamp_begin;
      map.resampled = noise.between(0, 3) != 0;
      map.box_begin = map.resampled && noise.between(0, 1) ? cropped * noise.between(0, 7) / 16.0 : 0.0;
      map.box_length = map.resampled ? (cropped - map.box_begin) * noise.between(8, 16) / 16.0 : cropped;
      map.target = map.resampled ? noise.between(1, 90) : cropped;
      map.window_begin = noise.between(-5, map.target / 2);
      map.length = noise.between(1, map.target + 8);
      map.dropped_before = std::max(0, noise.between(-map.target, map.target));
      map.dropped_after = std::max(0, noise.between(-map.target, map.target));
      map.source_mirrored = noise.between(0, 1);
      map.flip = noise.between(0, 1);
      return map;
    };
    Case sample;
    const Filter filter = kFilters[noise.between(0, 3)];
    build_taps(axis(noise.between(1, 200)), filter, sample.x);
    build_taps(axis(noise.between(1, 80)), filter, sample.y);
    // The source shows what the taps need, and at times a little more.
    const auto place = [&](const AxisTaps& taps, int& origin, int& size) {
      origin = std::max(0, taps.source_begin - noise.between(0, 2));
      size = std::max(1, taps.source_end + noise.between(0, 2) - origin);
    };
    place(sample.x, sample.origin_x, sample.width);
    place(sample.y, sample.origin_y, sample.height);
    sample.channels = noise.between(0, 4) ? 3 : 1;
    expect_as_defined(resampler, sample, kAllStrides[noise.between(0, 4)], kAllStrides[noise.between(0, 4)], seed);
    if (HasFatalFailure()) return;
  }
}

// Taps that no filter makes: any number of them, with heavy lobes, scattered in any order.
TEST_P(ResamplerOn, EqualsTheDefinitionForArbitraryTaps) {
  Resampler resampler;
  Noise noise(23);
  std::uint32_t seed = 1000;
  for (const int taps : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 23, 24, 25, 26, 32, 33, 64, 100, 300}) {
    for (const int spread : {0, 1, 3, 5, 40}) {
      const auto axis = [&](int count_max, int outputs, int step, AxisTaps& made) {
        made.outputs = outputs;
        made.taps_max = count_max;
        made.first.clear();
        made.count.clear();
        made.weights.assign(static_cast<std::size_t>(outputs * count_max), 0);
        made.source_begin = 3;
        made.source_end = 3 + count_max + outputs * step;
        for (int o = 0; o < outputs; ++o) {
          made.first.push_back(3 + noise.between(0, step) + o * step - (o > 0 && step > 0 ? noise.between(0, 1) : 0));
          made.first.back() = std::min(made.first.back(), made.source_end - count_max);
          made.count.push_back(o % 3 == 0 ? count_max : noise.between(1, count_max));
          std::int64_t left = std::int64_t{1} << kTapBits;
          for (int k = 0; k < made.count.back(); ++k) {
            const bool last = k + 1 == made.count.back();
            std::int64_t weight = (noise.between(0, 1 << 23) - (1 << 22)) / count_max;
            if (last) weight = std::min<std::int64_t>(left, 1 << kTapBits) >> (o % 2);  // every other sums to less
            made.weights[static_cast<std::size_t>(o * count_max + k)] = static_cast<std::int32_t>(weight);
            left -= weight;
          }
        }
      };
      Case sample;
      const bool along_x = seed % 2;
      axis(along_x ? taps : 1 + spread % 4, along_x ? 37 : 5, along_x ? spread : 1, sample.x);
      axis(along_x ? 1 + spread % 5 : taps, along_x ? 3 : 9, along_x ? 1 : spread, sample.y);
      sample.origin_x = sample.origin_y = 3;
      sample.width = sample.x.source_end - 3;
      sample.height = sample.y.source_end - 3;
      sample.channels = seed % 3 ? 3 : 1;
      expect_as_defined(resampler, sample, kAllStrides[seed % 5], kAllStrides[seed % 4], seed);
      ++seed;
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(ResamplerOn, EqualsTheDefinitionForExtremeShapes) {
  Resampler resampler;
  std::uint32_t seed = 0;
  const int shapes[][4] = {{1, 700, 5, 3}, {700, 1, 3, 5},   {3000, 2, 1, 1}, {2, 3000, 1, 1}, {1, 1, 300, 2},
                           {1, 1, 2, 300}, {900, 3, 224, 2}, {1000, 2, 9, 7}, {640, 4, 150, 3}};
  for (const auto& [width, height, target_width, target_height] : shapes) {
    for (const Filter filter : kFilters) {
      Case sample;
      sample.width = width;
      sample.height = height;
      build_taps(resized(width, target_width), filter, sample.x);
      build_taps(resized(height, target_height), filter, sample.y);
      expect_as_defined(resampler, sample, kAllStrides[seed % 5], kAllStrides[seed % 3], seed);
      ++seed;
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(ResamplerOn, PadsEverythingWhenOnlyPaddingIsShown) {
  AxisMap beyond = AxisMap::identity(4);
  beyond.window_begin = 100;
  Case sample;
  build_taps(beyond, Filter::kBilinear, sample.x);
  build_taps(AxisMap::identity(3), Filter::kBilinear, sample.y);
  sample.height = 3;
  Resampler resampler;
  expect_as_defined(resampler, sample, Strides::kInterleaved, Strides::kInterleaved, 1);
  EXPECT_EQ(sample.x.source_begin, sample.x.source_end);
}

TEST_P(ResamplerOn, LeavesWhatLiesBetweenTheRowsOfItsOutput) {
  Case sample;
  build_taps(resized(20, 33), Filter::kBilinear, sample.x);
  build_taps(resized(10, 5), Filter::kBilinear, sample.y);
  const FencedImage image(20, 10, 3, Strides::kInterleaved, FencedBytes::Fence::kAfter, 3);
  std::vector<std::uint8_t> bytes(5 * 128, 0xA5);
  Resampler().resample({image.view(), 0, 0}, sample.x, sample.y, kFill, {bytes.data(), 33, 5, 3, 128, 3, 1});
  for (std::size_t row = 0; row < 5; ++row) {
    for (std::size_t i = 99; i < 128; ++i) ASSERT_EQ(bytes[row * 128 + i], 0xA5);
  }
}

// Hashes of what Pillow makes of the same pixels: Image.crop(box).resize(size, filter).
struct PillowCase {
  int channels, width, height;
  Rect crop;
  int target_width, target_height;
  Filter filter;
  std::uint64_t hash;
  PillowOrder pillow = PillowOrder::k9_4;
};
constexpr PillowCase kPillow[] = {
    {3, 290, 270, {0, 0, 290, 270}, 224, 224, Filter::kBilinear, 0x0BC7128E81E576E7ULL},
    {3, 500, 375, {0, 0, 500, 375}, 341, 256, Filter::kBilinear, 0xDF8A154A4446D00AULL},
    {3, 500, 375, {37, 21, 411, 208}, 224, 224, Filter::kBicubic, 0x5570F22EBA99F918ULL},
    {3, 97, 64, {0, 0, 97, 64}, 224, 224, Filter::kBilinear, 0x3EF60991320252D9ULL},
    {3, 61, 83, {1, 2, 57, 80}, 150, 131, Filter::kBicubic, 0xF6D1261D06C78627ULL},
    {3, 640, 480, {0, 0, 640, 480}, 64, 64, Filter::kBox, 0x7F9C6613A9314004ULL},
    {3, 640, 480, {11, 0, 601, 479}, 33, 47, Filter::kBicubic, 0x4A571668B436B340ULL},
    {3, 333, 251, {0, 0, 333, 251}, 200, 300, Filter::kNearest, 0x2BFB204F5D201405ULL},
    {3, 2000, 4, {0, 0, 2000, 4}, 1, 3, Filter::kBilinear, 0xBD67DDAFEC45ED5EULL},
    {3, 3, 1999, {0, 0, 3, 1999}, 5, 2, Filter::kBicubic, 0x8B70674FCB83712BULL},
    {3, 1, 1, {0, 0, 1, 1}, 40, 30, Filter::kBicubic, 0x2E300AE3ED265D4EULL},
    {3, 2, 2, {0, 0, 2, 2}, 31, 17, Filter::kBicubic, 0x2C96F8F04A2B5B25ULL},
    {1, 290, 270, {5, 9, 200, 190}, 224, 224, Filter::kBilinear, 0x4BA73ABE2EB83832ULL},
    {1, 310, 200, {0, 0, 310, 200}, 28, 28, Filter::kBox, 0xCAB65C54B12F7316ULL},
    // Shapes of which versions differ: 12.1.0, 12.3.0, 13.0.0.
    {3, 270, 290, {0, 0, 270, 290}, 260, 224, Filter::kBilinear, 0x318525CC82CF2CE4ULL, PillowOrder::k9_4},
    {3, 270, 290, {0, 0, 270, 290}, 260, 224, Filter::kBilinear, 0x318525CC82CF2CE4ULL, PillowOrder::k12_2},
    {3, 270, 290, {0, 0, 270, 290}, 260, 224, Filter::kBilinear, 0x37D12BF584DD53E4ULL, PillowOrder::k13},
    {3, 375, 500, {30, 11, 208, 411}, 224, 224, Filter::kBicubic, 0x4CBFF9AF83E12506ULL, PillowOrder::k9_4},
    {3, 375, 500, {30, 11, 208, 411}, 224, 224, Filter::kBicubic, 0x4CBFF9AF83E12506ULL, PillowOrder::k12_2},
    {3, 375, 500, {30, 11, 208, 411}, 224, 224, Filter::kBicubic, 0xCC5671AD53A8AC4CULL, PillowOrder::k13},
    {3, 61, 83, {1, 2, 57, 80}, 150, 31, Filter::kBicubic, 0xAFA7CD1A581A4A62ULL, PillowOrder::k9_4},
    {3, 61, 83, {1, 2, 57, 80}, 150, 31, Filter::kBicubic, 0xAFA7CD1A581A4A62ULL, PillowOrder::k12_2},
    {3, 61, 83, {1, 2, 57, 80}, 150, 31, Filter::kBicubic, 0x6F1FA1EE607C12C3ULL, PillowOrder::k13},
    {3, 480, 640, {11, 0, 401, 639}, 300, 47, Filter::kBox, 0x08A43A48FFFD76E9ULL, PillowOrder::k9_4},
    {3, 480, 640, {11, 0, 401, 639}, 300, 47, Filter::kBox, 0x08A43A48FFFD76E9ULL, PillowOrder::k12_2},
    {3, 480, 640, {11, 0, 401, 639}, 300, 47, Filter::kBox, 0x8D974D6570CAF2E4ULL, PillowOrder::k13},
    {3, 640, 480, {11, 0, 601, 479}, 500, 47, Filter::kBicubic, 0xAF360FAB8226DB7FULL, PillowOrder::k9_4},
    {3, 640, 480, {11, 0, 601, 479}, 500, 47, Filter::kBicubic, 0xAF360FAB8226DB7FULL, PillowOrder::k12_2},
    {3, 640, 480, {11, 0, 601, 479}, 500, 47, Filter::kBicubic, 0x2537F5EC55516287ULL, PillowOrder::k13},
    {3, 3, 1999, {0, 0, 3, 1999}, 5, 2, Filter::kBicubic, 0x8B70674FCB83712BULL, PillowOrder::k9_4},
    {3, 3, 1999, {0, 0, 3, 1999}, 5, 2, Filter::kBicubic, 0x2D0AB85A395C0B09ULL, PillowOrder::k12_2},
    {3, 3, 1999, {0, 0, 3, 1999}, 5, 2, Filter::kBicubic, 0x2D0AB85A395C0B09ULL, PillowOrder::k13},
    {3, 3, 301, {0, 0, 3, 301}, 6, 270, Filter::kBilinear, 0xBFC2E07409853FFFULL, PillowOrder::k9_4},
    {3, 3, 301, {0, 0, 3, 301}, 6, 270, Filter::kBilinear, 0x34A59E10F6154CF2ULL, PillowOrder::k12_2},
    {3, 3, 301, {0, 0, 3, 301}, 6, 270, Filter::kBilinear, 0x34A59E10F6154CF2ULL, PillowOrder::k13},
    {3, 3, 300, {0, 0, 3, 300}, 6, 270, Filter::kBilinear, 0xBBA4E2AB700E5D29ULL, PillowOrder::k9_4},
    {3, 3, 300, {0, 0, 3, 300}, 6, 270, Filter::kBilinear, 0xBBA4E2AB700E5D29ULL, PillowOrder::k12_2},
    {3, 3, 300, {0, 0, 3, 300}, 6, 270, Filter::kBilinear, 0x79D028C4A8EA528BULL, PillowOrder::k13},
    {1, 200, 290, {5, 9, 150, 270}, 224, 224, Filter::kBilinear, 0xC9B0E835C1736B3FULL, PillowOrder::k9_4},
    {1, 200, 290, {5, 9, 150, 270}, 224, 224, Filter::kBilinear, 0xC9B0E835C1736B3FULL, PillowOrder::k12_2},
    {1, 200, 290, {5, 9, 150, 270}, 224, 224, Filter::kBilinear, 0x4DC4D2C50FCA7163ULL, PillowOrder::k13},
};

TEST_P(ResamplerOn, EqualsPillow) {
  Resampler resampler;
  for (const PillowCase& known : kPillow) {
    std::vector<std::uint8_t> pixels;
    for (std::uint32_t y = 0; y < static_cast<std::uint32_t>(known.height); ++y) {
      for (std::uint32_t x = 0; x < static_cast<std::uint32_t>(known.width); ++x) {
        for (std::uint32_t c = 0; c < static_cast<std::uint32_t>(known.channels); ++c) {
          pixels.push_back(static_cast<std::uint8_t>((3 * x * x + 7 * x * y + 5 * y * y + 11 * (x ^ y) + 85 * c) >> 2));
        }
      }
    }
    const auto axis = [](int begin, int length, int target) {
      AxisMap map = resized(length, target);
      map.clamp_begin += begin;
      map.clamp_end += begin;
      return map;
    };
    const SamplingMap map = map_of(axis(known.crop.x, known.crop.width, known.target_width),
                                   axis(known.crop.y, known.crop.height, known.target_height), known.filter);
    AxisTaps taps_x, taps_y;
    build_taps(map.x, map.filter, taps_x);
    build_taps(map.y, map.filter, taps_y);
    std::string out(static_cast<std::size_t>(known.target_width * known.target_height * known.channels), '\0');
    resampler.resample(
        {interleaved_view<const std::uint8_t>(pixels.data(), known.width, known.height, known.channels), 0, 0}, taps_x,
        taps_y, kFill,
        interleaved_view(reinterpret_cast<std::uint8_t*>(out.data()), known.target_width, known.target_height,
                         known.channels),
        pass_order(map, known.pillow));
    EXPECT_EQ(hash64(out), known.hash) << known.width << "x" << known.height << " to " << known.target_width << "x"
                                       << known.target_height << " " << to_string(known.filter);
  }
}

}  // namespace
}  // namespace stoker
