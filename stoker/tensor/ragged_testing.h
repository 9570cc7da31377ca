// A ragged output, for tests: bytes, of each slot as many as it has, at most the spec's shape. Offsets first, one more
// than there are slots; then the values. Until they are sealed each slot has as much room as any may need.
#pragma once

#include <cstring>

#include "stoker/base/error.h"
#include "stoker/tensor/arrangement.h"

namespace stoker {

class RaggedBytes final : public Arrangement {
 public:
  std::size_t bytes_max(const OutputSpec& spec, int slots) const override {
    return values_begin(slots) + room(spec) * static_cast<std::size_t>(slots);
  }

  MutableBytes place(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot,
                     const Shape& shape) const override {
    if (shape[0] > spec.shape[0]) {
      fail(ErrorKind::kLimit, "{} bytes, and '{}' has room for {}", shape[0], spec.name, spec.shape[0]);
    }
    offsets(memory)[slot + 1] = shape[0];
    return {memory + values_begin(slots) + room(spec) * static_cast<std::size_t>(slot),
            static_cast<std::size_t>(shape[0])};
  }

  void pad(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot) const override {
    place(spec, slots, memory, slot, Shape{0});
  }

  std::size_t seal(const OutputSpec& spec, int slots, std::uint8_t* memory) const override {
    std::uint8_t* const values = memory + values_begin(slots);
    std::int64_t* const offset = offsets(memory);
    offset[0] = 0;
    for (int slot = 0; slot < slots; ++slot) {
      const std::int64_t length = offset[slot + 1];
      std::memmove(values + offset[slot], values + room(spec) * static_cast<std::size_t>(slot),
                   static_cast<std::size_t>(length));
      offset[slot + 1] = offset[slot] + length;
    }
    return values_begin(slots) + static_cast<std::size_t>(offset[slots]);
  }

  Bytes value(const OutputSpec&, int slots, const std::uint8_t* memory, int slot) const override {
    const auto* const offset = reinterpret_cast<const std::int64_t*>(memory);
    return {memory + values_begin(slots) + offset[slot], static_cast<std::size_t>(offset[slot + 1] - offset[slot])};
  }

  std::vector<TensorView> tensors(const OutputSpec& spec, int slots, std::uint8_t* memory,
                                  std::size_t used) const override {
    return {{memory + values_begin(slots), spec.dtype, {static_cast<std::int64_t>(used - values_begin(slots))}},
            {memory, DType::kI64, {slots + 1}}};
  }

 private:
  static std::size_t room(const OutputSpec& spec) { return static_cast<std::size_t>(spec.shape[0]); }
  static std::size_t values_begin(int slots) { return (static_cast<std::size_t>(slots + 1) * 8 + 63) / 64 * 64; }
  static std::int64_t* offsets(std::uint8_t* memory) { return reinterpret_cast<std::int64_t*>(memory); }
};

}  // namespace stoker
