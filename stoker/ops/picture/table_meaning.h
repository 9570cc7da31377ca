// The meaning of steps that treat each value by itself.
#pragma once

#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

STOKER_HOST_DEVICE inline void invert_pixel(const PicturePass& pass, int x, int y) {
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, static_cast<std::uint8_t>(255 - pass.at(x, y, c)));
}

STOKER_HOST_DEVICE inline void posterize_pixel(const PicturePass& pass, int x, int y) {
  const int mask = pass.steps->n[0];
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, static_cast<std::uint8_t>(pass.at(x, y, c) & mask));
}

STOKER_HOST_DEVICE inline void solarize_pixel(const PicturePass& pass, int x, int y) {
  const int threshold = pass.steps->n[0];
  for (int c = 0; c < 3; ++c) {
    const int value = pass.at(x, y, c);
    pass.put(x, y, c, static_cast<std::uint8_t>(value >= threshold ? 255 - value : value));
  }
}

constexpr int kSolarizeAddBelow = 128;
STOKER_HOST_DEVICE inline std::uint8_t solarize_added(int value, int addition) {
  const int sum = value < kSolarizeAddBelow ? value + addition : value;
  return static_cast<std::uint8_t>(sum > 255 ? 255 : sum);
}
STOKER_HOST_DEVICE inline void solarize_add_pixel(const PicturePass& pass, int x, int y) {
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, solarize_added(pass.at(x, y, c), pass.steps->n[0]));
}

STOKER_HOST_DEVICE inline void table_pixel(const PicturePass& pass, int x, int y) {
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, pass.facts->table[c][pass.at(x, y, c)]);
}

/// x^exponent for x from 1/255 to 1 and an exponent of at least 0, in plain arithmetic, so that it is the same
/// everywhere, within some 1e-14.
STOKER_HOST_DEVICE inline double power_of_fraction(double x, double exponent) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  double log2_whole = 0;
  while (x < 0.70710678118654752) x *= 2, log2_whole -= 1;
  // log x = 2 atanh((x - 1) / (x + 1)), a quickly converging odd series.
  const double t = (x - 1) / (x + 1), t2 = t * t;
  double power = t, sum = 0;
  for (int i = 1; i <= 21; i += 2) {
    sum += power / i;
    power *= t2;
  }
  const double log = (log2_whole * kLn2 + 2 * sum) * exponent;
  if (log < -40) return 0;  // less than any byte shows
  // e^log = (e^(log / 64))^64.
  double term = 1, result = 1;
  for (int i = 1; i <= 14; ++i) {
    term *= log / 64 / i;
    result += term;
  }
  for (int i = 0; i < 6; ++i) result *= result;
  return result;
}

/// As torchvision adjusts it, but for its float32.
STOKER_HOST_DEVICE inline std::uint8_t gamma_value(const PictureStep& step, int value) {
  const double exponent = step.f[0];
  const double power = value == 0 ? (exponent == 0 ? 1 : 0) : power_of_fraction(value / 255.0, exponent);
  const double result = power * static_cast<double>(step.f[1]);
  return static_cast<std::uint8_t>((result > 1 ? 1 : result) * 255.999);
}

/// Pillow's, and so torchvision's.
STOKER_HOST_DEVICE inline void equalize_table(const std::uint32_t (&counts)[256], std::uint8_t (&table)[256]) {
  std::uint32_t pixels = 0, last = 0;  // those of the largest value that occurs
  for (const std::uint32_t count : counts) {
    pixels += count;
    if (count > 0) last = count;
  }
  const std::uint32_t step = (pixels - last) / 255;
  std::uint32_t below = step / 2;
  for (int value = 0; value < 256; ++value) {
    const std::uint32_t level = step == 0 ? static_cast<std::uint32_t>(value) : below / step;
    table[value] = static_cast<std::uint8_t>(level > 255 ? 255 : level);
    below += counts[value];
  }
}

/// torchvision's.
STOKER_HOST_DEVICE inline void autocontrast_table(const std::uint32_t (&counts)[256], std::uint8_t (&table)[256]) {
  int low = 0, high = 255;
  while (low < 255 && counts[low] == 0) ++low;
  while (high > 0 && counts[high] == 0) --high;
  const bool flat = high <= low;
  const float scale = flat ? 1 : static_cast<float>(high - low) * static_cast<float>(1.0 / 255);
  for (int value = 0; value < 256; ++value) {
    const float stretched = static_cast<float>(flat ? value : value - low) / scale;
    table[value] = static_cast<std::uint8_t>(stretched < 0 ? 0 : stretched > 255 ? 255 : stretched);
  }
}

STOKER_HOST_DEVICE inline void permute_pixel(const PicturePass& pass, int x, int y) {
  const int rgb[3] = {pass.at(x, y, 0), pass.at(x, y, 1), pass.at(x, y, 2)};
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, static_cast<std::uint8_t>(rgb[pass.steps->n[c]]));
}

}  // namespace stoker
