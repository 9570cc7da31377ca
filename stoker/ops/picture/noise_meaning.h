// The meaning of noise: random numbers by the step's key and the place of a value, or of a pixel, in the picture.
#pragma once

#include "stoker/ops/picture/picture_pass.h"
#include "stoker/ops/picture/pixel_noise.h"
#include "stoker/tensor/rounding.h"

namespace stoker {

/// f[0]: the mean, f[1]: the standard deviation, in units of a byte.
STOKER_HOST_DEVICE inline void gaussian_noise_pixel(const PicturePass& pass, int x, int y) {
  const PictureStep& step = *pass.steps;
  for (int c = 0; c < 3; ++c) {
    const float noise = PixelNoise::normal(step.key, pass.index(x, y, c)) * step.f[1] + step.f[0];
    pass.put(x, y, c, u8_from_f32(static_cast<float>(pass.at(x, y, c)) + noise));
  }
}

/// Of 2^24 equally likely numbers, how many make a pixel white (n[0]), and how many white or black (n[1]).
STOKER_HOST_DEVICE inline void salt_and_pepper_pixel(const PicturePass& pass, int x, int y) {
  const PictureStep& step = *pass.steps;
  const auto number = static_cast<std::int32_t>(PixelNoise::word(step.key, pass.index(x, y, 0)) >> 8);
  for (int c = 0; c < 3; ++c) {
    const int value = number < step.n[0] ? 255 : number < step.n[1] ? 0 : pass.at(x, y, c);
    pass.put(x, y, c, static_cast<std::uint8_t>(value));
  }
}

/// Shot noise, the photons of a value in several parts: float32 has no probability of none for more than some eighty.
/// f[0]: photons of a part at value 1; f[1]: probability of none there; f[2]: the value of a photon. n[0]: parts.
struct ShotNoiseCount {
  // A sum of probabilities stops here: the rest is less than its rounding.
  static constexpr float kLeast = 0x1p-25f;

  /// The probability of no photon.
  STOKER_HOST_DEVICE static float none(int value, float ratio) {
    float power = 1;
    for (int bit = 0; bit < 8; ++bit) {
      if ((value >> bit & 1) != 0) power = power * ratio;
      ratio = ratio * ratio;
    }
    return power;
  }

  /// The count of photons below which a uniform number lies among the sums of their probabilities.
  STOKER_HOST_DEVICE static int count(float mean, float probability_of_none, float uniform) {
    float probability = probability_of_none, sum = probability;
    int count = 0;
    while (uniform >= sum && (static_cast<float>(count) < mean || probability >= kLeast)) {
      ++count;
      probability = probability * (mean * (1.0f / static_cast<float>(count)));
      sum = sum + probability;
    }
    return count;
  }

  /// Numbers of one part; a multiple of a group's.
  STOKER_HOST_DEVICE static std::int64_t words_of_part(const PicturePass& pass) {
    return (3 * std::int64_t{pass.pixels()} + PixelNoise::kGroupWords - 1) / PixelNoise::kGroupWords *
           PixelNoise::kGroupWords;
  }
};

STOKER_HOST_DEVICE inline void shot_noise_pixel(const PicturePass& pass, int x, int y) {
  const PictureStep& step = *pass.steps;
  for (int c = 0; c < 3; ++c) {
    const int value = pass.at(x, y, c);
    const float mean = static_cast<float>(value) * step.f[0], none = ShotNoiseCount::none(value, step.f[1]);
    int count = 0;
    for (int part = 0; part < step.n[0]; ++part) {
      const std::uint32_t word =
          PixelNoise::word(step.key, part * ShotNoiseCount::words_of_part(pass) + pass.index(x, y, c));
      count += ShotNoiseCount::count(mean, none, static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24f);
    }
    pass.put(x, y, c, u8_from_f32(static_cast<float>(count) * step.f[2]));
  }
}

}  // namespace stoker
