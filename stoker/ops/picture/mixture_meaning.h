// The meaning of steps that put pictures aside and blend them.
#pragma once

#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

STOKER_HOST_DEVICE inline std::uint8_t* kept_picture(const PicturePass& pass, int place) {
  return pass.kept + static_cast<std::size_t>(place) * pass.kept_stride;
}

/// n[0]: the place where the picture is put aside. It stays as it is.
STOKER_HOST_DEVICE inline void keep_pixel(const PicturePass& pass, int x, int y) {
  std::uint8_t* const kept = kept_picture(pass, pass.steps->n[0]);
  for (int c = 0; c < 3; ++c) kept[pass.index(x, y, c)] = pass.in[pass.index(x, y, c)];
}

/// n[0]: the place of the picture that takes this one's place.
STOKER_HOST_DEVICE inline void recall_pixel(const PicturePass& pass, int x, int y) {
  const std::uint8_t* const kept = kept_picture(pass, pass.steps->n[0]);
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, kept[pass.index(x, y, c)]);
}

/// Cut off, as torchvision and timm cast.
STOKER_HOST_DEVICE inline std::uint8_t cut_off_to_byte(float value) {
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : static_cast<int>(value));
}

/// The byte at this index: of the pictures in places n[0] to n[1] - 1, then of this one, times f[0], f[1] and so on;
/// every product and sum rounded by itself.
STOKER_HOST_DEVICE inline std::uint8_t weighted_sum(const PicturePass& pass, std::ptrdiff_t index) {
  const PictureStep& step = *pass.steps;
  const int first = step.n[0], count = step.n[1] - first;
  float sum = 0;
  for (int k = 0; k < count; ++k) {
    sum = sum + static_cast<float>(kept_picture(pass, first + k)[index]) * step.f[k];
  }
  return cut_off_to_byte(sum + static_cast<float>(pass.in[index]) * step.f[count]);
}

/// The byte at this index: from the picture in place n[0] towards this one, by the part f[0].
STOKER_HOST_DEVICE inline std::uint8_t moved_towards(const PicturePass& pass, std::ptrdiff_t index) {
  const int from = kept_picture(pass, pass.steps->n[0])[index];
  const float change = pass.steps->f[0] * static_cast<float>(pass.in[index] - from);
  return cut_off_to_byte(static_cast<float>(from) + change);
}

STOKER_HOST_DEVICE inline void mixture_pixel(const PicturePass& pass, int x, int y) {
  const bool sum = pass.steps->kind == PictureKind::kWeightedSum;
  for (int c = 0; c < 3; ++c) {
    const std::ptrdiff_t index = pass.index(x, y, c);
    pass.out[index] = sum ? weighted_sum(pass, index) : moved_towards(pass, index);
  }
}

}  // namespace stoker
