// What mixing does to one element of the tensors of a group of samples: the definition that the host's kernel agrees
// with, and that a device runs as it is.
//
// A group has two or four samples. Sample m's partner k is the group's sample m ^ k; partner 0 is the sample itself.
#pragma once

#include <cstdint>
#include <cstring>

#include "stoker/base/host_device.h"
#include "stoker/tensor/rounding.h"

namespace stoker {

constexpr int kMixGroupMax = 4;

/// What becomes of one sample, as it was drawn.
struct MixDraw {
  enum class Kind : std::uint8_t {
    kKeep,      // it stays as it is
    kBlend,     // the weighted sum of itself and its partner
    kPaste,     // its partner inside a box, itself around it
    kQuarters,  // itself and its partners in the four parts around a corner
  };
  Kind kind = Kind::kKeep;
  std::int32_t left = 0, top = 0, right = 0, bottom = 0;  // the box, in pixels; or the corner (left, top)
  // Of the partners in the sample's label, and in its pixels if they are blended.
  float weight[kMixGroupMax] = {1, 0, 0, 0};
};

/// Which partner the pixel at (x, y) is taken from; of pixels that are not blended.
STOKER_HOST_DEVICE inline int partner_at(const MixDraw& mix, int x, int y) {
  switch (mix.kind) {
    case MixDraw::Kind::kPaste: return x >= mix.left && x < mix.right && y >= mix.top && y < mix.bottom ? 1 : 0;
    case MixDraw::Kind::kQuarters: return (x >= mix.left ? 1 : 0) + (y >= mix.top ? 2 : 0);
    case MixDraw::Kind::kKeep:
    case MixDraw::Kind::kBlend: break;
  }
  return 0;
}

/// Each product and the sum are rounded by themselves.
STOKER_HOST_DEVICE inline float blended(float own, float other, float own_weight, float other_weight) {
  const float own_part = own * own_weight, other_part = other * other_weight;
  return own_part + other_part;
}

/// The bits of an element, in the low end.
STOKER_HOST_DEVICE inline std::uint32_t element_bits(const std::uint8_t* tensor, DType dtype, std::int64_t index) {
  switch (dtype) {
    case DType::kF32: return reinterpret_cast<const std::uint32_t*>(tensor)[index];
    case DType::kF16:
    case DType::kBF16: return reinterpret_cast<const std::uint16_t*>(tensor)[index];
    case DType::kU8: return tensor[index];
    default: break;
  }
  return 0;
}

STOKER_HOST_DEVICE inline void store_bits(std::uint32_t bits, DType dtype, std::uint8_t* tensor, std::int64_t index) {
  switch (dtype) {
    case DType::kF32: reinterpret_cast<std::uint32_t*>(tensor)[index] = bits; return;
    case DType::kF16:
    case DType::kBF16: reinterpret_cast<std::uint16_t*>(tensor)[index] = static_cast<std::uint16_t>(bits); return;
    case DType::kU8: tensor[index] = static_cast<std::uint8_t>(bits); return;
    default: return;
  }
}

STOKER_HOST_DEVICE inline float value_of_bits(std::uint32_t bits, DType dtype) {
  switch (dtype) {
    case DType::kF32: return f32_of_bits(bits);
    case DType::kF16: return f32_from_f16(static_cast<std::uint16_t>(bits));
    case DType::kBF16: return f32_from_bf16(static_cast<std::uint16_t>(bits));
    case DType::kU8: return static_cast<float>(bits);
    default: break;
  }
  return 0;
}

/// Mixes element `index`, which belongs to the pixel at (x, y), in the tensors of a group.
STOKER_HOST_DEVICE inline void mix_element(const MixDraw* const* mixes, std::uint8_t* const* tensors, int group,
                                           DType dtype, std::int64_t index, int x, int y) {
  std::uint32_t before[kMixGroupMax] = {};
  for (int m = 0; m < group; ++m) before[m] = element_bits(tensors[m], dtype, index);
  for (int m = 0; m < group; ++m) {
    const MixDraw& mix = *mixes[m];
    if (mix.kind == MixDraw::Kind::kBlend) {
      const float own = value_of_bits(before[m], dtype), other = value_of_bits(before[m ^ 1], dtype);
      store_rounded(blended(own, other, mix.weight[0], mix.weight[1]), dtype, tensors[m], index);
    } else if (const int partner = partner_at(mix, x, y); partner != 0) {
      store_bits(before[m ^ partner], dtype, tensors[m], index);
    }
  }
}

}  // namespace stoker
