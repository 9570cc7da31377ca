#include "stoker/pack/synth/synth_image.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "stoker/base/random.h"
#include "stoker/pack/synth/synth_field.h"
#include "stoker/pack/synth/synth_leaf.h"
#include "stoker/pack/synth/synth_scene.h"

namespace stoker {
namespace {

/// Two thirds of ImageNet come from one photo site that stored everything 500 pixels long, at quality 96 and without
/// subsampling; the rest from the whole web. Shares, sizes and qualities were counted over 300 of its images.
struct OriginShare {
  double upto;  // of a number in [0, 1)
  bool photo_site, grey;
  ChromaSubsampling subsampling;
};
constexpr std::array<OriginShare, 6> kOrigins{{
    {0.645, true, false, ChromaSubsampling::k444},
    {0.660, true, true, ChromaSubsampling::k444},
    {0.850, false, false, ChromaSubsampling::k420},
    {0.860, false, false, ChromaSubsampling::k422},
    {0.995, false, false, ChromaSubsampling::k444},
    {1.000, false, true, ChromaSubsampling::k444},
}};
constexpr double kStandardTablesShare = 0.05;

struct Size {
  int width, height;
};

Size turned(Random& random, double portrait_share, int longer, int shorter) {
  return random.uniform() < portrait_share ? Size{shorter, longer} : Size{longer, shorter};
}

Size draw_photo_site_size(Random& random) {
  constexpr int kLonger = 500;
  const double which = random.uniform();
  int shorter;
  if (which < 0.33) {
    shorter = 375;
  } else if (which < 0.65) {
    shorter = 332 + static_cast<int>(random.below(4));
  } else if (which < 0.68) {
    shorter = 500;
  } else {
    shorter = 290 + static_cast<int>(random.below(151));
  }
  return turned(random, 0.2, kLonger, shorter);
}

/// `rank` in [0, 1): where the image stands among those of the web by size.
Size draw_web_size(Random& random, double rank) {
  constexpr std::array<double, 11> kLongerDeciles{110, 245, 320, 360, 430, 500, 505, 600, 730, 800, 1280};
  constexpr std::array<double, 6> kAspects{1.0, 1.05, 4.0 / 3, 4.0 / 3, 1.5, 1.9};
  const std::size_t decile = std::min<std::size_t>(9, static_cast<std::size_t>(10 * rank));
  const double within = 10 * rank - static_cast<double>(decile);
  const double longer = kLongerDeciles[decile] + within * (kLongerDeciles[decile + 1] - kLongerDeciles[decile]);
  double aspect = kAspects[random.below(kAspects.size())];
  aspect *= random.uniform(1, 1.05);
  return turned(random, 0.25, static_cast<int>(longer), static_cast<int>(longer / aspect));
}

int draw_web_quality(Random& random, ChromaSubsampling subsampling) {
  constexpr std::array<int, 16> kSubsampled{60, 68, 72, 75, 75, 75, 75, 75, 80, 85, 85, 85, 90, 90, 91, 95};
  constexpr std::array<int, 16> kWhole{80, 80, 82, 85, 86, 86, 86, 91, 92, 93, 93, 94, 94, 94, 99, 99};
  return (subsampling == ChromaSubsampling::k444 ? kWhole : kSubsampled)[random.below(16)];
}

struct Origin {
  Size size;
  bool grey = false;
  JpegEncodeOptions encoding;
};

/// A number in [0, 1) that any run of successive indices fills evenly: steps of the golden section, in fixed point. It
/// makes the shares of even a small data set right.
double spread_evenly(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t start = Random(seed, 0, 0, random_stream("synth", "origin", 0)).next_u64();
  return static_cast<double>((start + index * 0x9E3779B97F4A7C15u) >> 11) * 0x1p-53;
}

Origin draw_origin(Random& random, double which) {
  std::size_t number = 0;
  while (which >= kOrigins[number].upto) ++number;
  const OriginShare& share = kOrigins[number];
  const double from = number > 0 ? kOrigins[number - 1].upto : 0;
  const double rank = (which - from) / (share.upto - from);  // as evenly spread as `which`
  Origin origin;
  origin.grey = share.grey;
  origin.encoding.subsampling = share.subsampling;
  origin.encoding.optimize = random.uniform() >= kStandardTablesShare;
  origin.encoding.quality = share.photo_site ? 96 : draw_web_quality(random, share.subsampling);
  origin.size = share.photo_site ? draw_photo_site_size(random) : draw_web_size(random, rank);
  return origin;
}

/// A lens's blur: `share` of each pixel goes to either neighbour, along both axes.
void blur(SynthField& field, float share) {
  const float rest = 1 - 2 * share;
  const std::size_t width = static_cast<std::size_t>(field.width);
  std::vector<float> above(field.row(0), field.row(0) + width), here(width), padded(width + 2);
  for (int y = 0; y < field.height; ++y) {
    float* row = field.row(y);
    const float* below = field.row(std::min(y + 1, field.height - 1));
    std::copy(row, row + width, here.begin());
    for (std::size_t x = 0; x < width; ++x) padded[x + 1] = rest * here[x] + share * (above[x] + below[x]);
    padded[0] = padded[1];
    padded[width + 1] = padded[width];
    for (std::size_t x = 0; x < width; ++x) row[x] = rest * padded[x + 1] + share * (padded[x] + padded[x + 2]);
    above.swap(here);
  }
}

/// What sensors add: grain in luma and a little of it in chroma, where most of the noise comes in blotches.
void add_sensor_noise(Random& random, SynthCanvas& canvas) {
  const float grain = static_cast<float>(random.uniform(0.1, 1.6));
  const double colorful = random.uniform();
  const float blotches = static_cast<float>(0.1 + 3.8 * colorful * colorful * colorful);
  const float color_grain = static_cast<float>(random.uniform(-3, 1.1));
  const SynthField fine = make_noise(random, canvas.width(), canvas.height() + 16, {2, 1.5f, 0, 0, 0});
  const SynthField coarse = make_noise(random, canvas.width(), canvas.height() + 8, {3, 0.7f, 0, 0, 0});
  const float chroma_grain = std::max(0.0f, color_grain);
  for (int y = 0; y < canvas.height(); ++y) {
    const float *f = fine.row(y), *f_blue = fine.row(y + 8), *f_red = fine.row(y + 16);
    const float *c_blue = coarse.row(y), *c_red = coarse.row(y + 8);
    float *luma = canvas.luma.row(y), *blue = canvas.blue.row(y), *red = canvas.red.row(y);
    for (int x = 0; x < canvas.width(); ++x) {
      luma[x] += grain * f[x];
      blue[x] += blotches * c_blue[x] + chroma_grain * f_blue[x];
      red[x] += blotches * c_red[x] + chroma_grain * f_red[x];
    }
  }
}

std::uint8_t to_byte(float value) { return static_cast<std::uint8_t>(std::min(255.0f, std::max(0.0f, value)) + 0.5f); }

SynthImage developed(const SynthCanvas& canvas, bool grey) {
  SynthImage image;
  image.width = canvas.width();
  image.height = canvas.height();
  image.channels = grey ? 1 : 3;
  image.pixels.resize(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height * image.channels));
  std::uint8_t* out = image.pixels.data();
  for (int y = 0; y < image.height; ++y) {
    const float *luma = canvas.luma.row(y), *blue = canvas.blue.row(y), *red = canvas.red.row(y);
    if (grey) {
      for (int x = 0; x < image.width; ++x) *out++ = to_byte(luma[x]);
      continue;
    }
    for (int x = 0; x < image.width; ++x, out += 3) {
      out[0] = to_byte(luma[x] + 1.402f * red[x]);
      out[1] = to_byte(luma[x] - 0.344136f * blue[x] - 0.714136f * red[x]);
      out[2] = to_byte(luma[x] + 1.772f * blue[x]);
    }
  }
  return image;
}

}  // namespace

SynthImage make_photograph(std::uint64_t seed, std::uint64_t index, std::int64_t label) {
  Random random(seed, 0, index, random_stream("synth", "photograph", 0));
  const Origin origin = draw_origin(random, spread_evenly(seed, index));
  SynthCanvas canvas = paint_scene(random, origin.size.width, origin.size.height, label);
  blur(canvas.luma, static_cast<float>(random.uniform(0, 0.18)));
  add_sensor_noise(random, canvas);
  SynthImage image = developed(canvas, origin.grey);
  image.encoding = origin.encoding;
  return image;
}

SynthImage make_tiny(std::uint64_t seed, std::uint64_t index, std::int64_t label) {
  constexpr int kSide = 32;
  Random random(seed, 0, index, random_stream("synth", "tiny", 0));
  SynthCanvas canvas = paint_scene(random, kSide, kSide, label);
  return developed(canvas, false);
}

}  // namespace stoker
