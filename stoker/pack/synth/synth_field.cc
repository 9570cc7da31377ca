#include "stoker/pack/synth/synth_field.h"

#include <cmath>
#include <cstdint>

namespace stoker {
namespace {

int ceil_shift(int value, int bits) { return (value + (1 << bits) - 1) >> bits; }

/// Adds white noise, uniform in [-amplitude, amplitude): four 8-bit numbers per draw are fine enough for textures.
void add_white(Random& random, float amplitude, SynthField& field) {
  const float scale = amplitude / 128;
  const std::size_t whole = field.values.size() / 4 * 4;
  float* value = field.values.data();
  for (std::size_t i = 0; i < whole; i += 4) {
    const std::uint32_t bits = random.next_u32();
    for (std::uint32_t k = 0; k < 4; ++k)
      value[i + k] += static_cast<float>(static_cast<int>(bits >> (8 * k) & 255) - 128) * scale;
  }
  for (std::size_t i = whole; i < field.values.size(); ++i) {
    value[i] += static_cast<float>(static_cast<int>(random.next_u32() & 255) - 128) * scale;
  }
}

/// Twice as wide, by the quadratic B-spline (weights 3/4 and 1/4), wrapping around.
SynthField doubled_width(const SynthField& in) {
  SynthField out(2 * in.width, in.height);
  for (int y = 0; y < in.height; ++y) {
    const float* a = in.row(y);
    float* b = out.row(y);
    const int last = in.width - 1;
    b[0] = 0.75f * a[0] + 0.25f * a[last];
    for (int x = 0; x < last; ++x) {
      b[2 * x + 1] = 0.75f * a[x] + 0.25f * a[x + 1];
      b[2 * x + 2] = 0.75f * a[x + 1] + 0.25f * a[x];
    }
    b[2 * last + 1] = 0.75f * a[last] + 0.25f * a[0];
  }
  return out;
}

SynthField doubled_height(const SynthField& in) {
  SynthField out(in.width, 2 * in.height);
  for (int y = 0; y < in.height; ++y) {
    const float* above = in.row(y > 0 ? y - 1 : in.height - 1);
    const float* here = in.row(y);
    const float* below = in.row(y + 1 < in.height ? y + 1 : 0);
    float *upper = out.row(2 * y), *lower = out.row(2 * y + 1);
    for (int x = 0; x < in.width; ++x) {
      upper[x] = 0.75f * here[x] + 0.25f * above[x];
      lower[x] = 0.75f * here[x] + 0.25f * below[x];
    }
  }
  return out;
}

/// Row y shifted by slant * y columns, between columns by linear interpolation, wrapping around.
SynthField slanted(const SynthField& in, float slant) {
  SynthField out(in.width, in.height);
  std::vector<float> wrapped(static_cast<std::size_t>(in.width) + 1);
  for (int y = 0; y < in.height; ++y) {
    const float shift = slant * static_cast<float>(y);
    const float whole = std::floor(shift), part = shift - whole;
    const int width = in.width, start = ((static_cast<int>(whole) % width) + width) % width;
    const float* a = in.row(y);
    for (int x = 0; x <= width; ++x)
      wrapped[static_cast<std::size_t>(x)] = a[x + start < width ? x + start : (x + start) % width];
    float* b = out.row(y);
    for (int x = 0; x < width; ++x) {
      const float* here = wrapped.data() + x;
      b[x] = here[0] + part * (here[1] - here[0]);
    }
  }
  return out;
}

void standardise(SynthField& field) {
  double sum = 0, squares = 0;
  std::int64_t count = 0;
  for (int y = 0; y < field.height; y += 4) {  // every fourth row is enough to know the spread
    const float* row = field.row(y);
    for (int x = 0; x < field.width; ++x) {
      sum += static_cast<double>(row[x]);
      squares += static_cast<double>(row[x]) * static_cast<double>(row[x]);
    }
    count += field.width;
  }
  const double mean = sum / static_cast<double>(count);
  const double variance = squares / static_cast<double>(count) - mean * mean;
  const float offset = static_cast<float>(mean), scale = static_cast<float>(1 / std::sqrt(variance + 1e-12));
  for (float& value : field.values) value = (value - offset) * scale;
}

}  // namespace

SynthField make_noise(Random& random, int width, int height, const SynthNoise& noise) {
  int doublings = noise.octaves - 1;
  SynthField field(ceil_shift(width, doublings + noise.stretch_x) + 1, ceil_shift(height, doublings) + 1);
  float amplitude = 1;
  add_white(random, amplitude, field);
  while (doublings > 0) {
    --doublings;
    field = doubled_height(doubled_width(field));
    amplitude *= noise.gain;
    if (doublings >= noise.skip) add_white(random, amplitude, field);
  }
  for (int i = 0; i < noise.stretch_x; ++i) field = doubled_width(field);
  if (noise.slant != 0) field = slanted(field, noise.slant);
  standardise(field);
  return field;
}

}  // namespace stoker
