// Rows of one shape, of each slot as many as it has. Offsets first, one more than there are slots; then the values.
// Until they are sealed each slot has as much room as any may need.
#include <cstring>

#include "stoker/base/error.h"
#include "stoker/tensor/arrangement.h"

namespace stoker {
namespace {

constexpr std::size_t kRowsAlignment = 64;

class Ragged final : public Arrangement {
 public:
  std::size_t bytes_max(const OutputSpec& spec, int slots) const override {
    std::size_t bytes = row_bytes(spec);
    if (__builtin_mul_overflow(bytes, spec.shape[0], &bytes) || __builtin_mul_overflow(bytes, slots, &bytes) ||
        __builtin_add_overflow(bytes, values_begin(slots), &bytes)) {
      return SIZE_MAX;
    }
    return bytes;
  }

  MutableBytes place(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot,
                     const Shape& shape) const override {
    if (shape[0] > spec.shape[0]) {
      fail(ErrorKind::kLimit, "{} rows, and '{}' has room for {}", shape[0], spec.name, spec.shape[0]);
    }
    offsets(memory)[slot + 1] = shape[0];
    return {memory + values_begin(slots) + room(spec) * static_cast<std::size_t>(slot),
            row_bytes(spec) * static_cast<std::size_t>(shape[0])};
  }

  void pad(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot) const override {
    Shape none{0};
    for (std::size_t axis = 1; axis < spec.shape.rank(); ++axis) none.append(spec.shape[axis]);
    place(spec, slots, memory, slot, none);
  }

  std::size_t seal(const OutputSpec& spec, int slots, std::uint8_t* memory) const override {
    std::uint8_t* const values = memory + values_begin(slots);
    std::int64_t* const offset = offsets(memory);
    const std::size_t row = row_bytes(spec);
    offset[0] = 0;
    for (int slot = 0; slot < slots; ++slot) {
      const auto rows = static_cast<std::size_t>(offset[slot + 1]);
      std::memmove(values + row * static_cast<std::size_t>(offset[slot]),
                   values + room(spec) * static_cast<std::size_t>(slot), row * rows);
      offset[slot + 1] += offset[slot];
    }
    return values_begin(slots) + row * static_cast<std::size_t>(offset[slots]);
  }

  Bytes value(const OutputSpec& spec, int slots, const std::uint8_t* memory, int slot) const override {
    const auto* const offset = reinterpret_cast<const std::int64_t*>(memory);
    const std::size_t row = row_bytes(spec);
    return {memory + values_begin(slots) + row * static_cast<std::size_t>(offset[slot]),
            row * static_cast<std::size_t>(offset[slot + 1] - offset[slot])};
  }

  std::vector<TensorView> tensors(const OutputSpec& spec, int slots, std::uint8_t* memory,
                                  std::size_t used) const override {
    Shape values{static_cast<std::int64_t>((used - values_begin(slots)) / row_bytes(spec))};
    for (std::size_t axis = 1; axis < spec.shape.rank(); ++axis) values.append(spec.shape[axis]);
    return {{memory + values_begin(slots), spec.dtype, values}, {memory, DType::kI64, {slots + 1}}};
  }

 private:
  static std::size_t row_bytes(const OutputSpec& spec) {
    std::size_t bytes = size_of(spec.dtype);
    for (std::size_t axis = 1; axis < spec.shape.rank(); ++axis) bytes *= static_cast<std::size_t>(spec.shape[axis]);
    return bytes;
  }
  static std::size_t room(const OutputSpec& spec) { return row_bytes(spec) * static_cast<std::size_t>(spec.shape[0]); }
  static std::size_t values_begin(int slots) {
    return (static_cast<std::size_t>(slots + 1) * sizeof(std::int64_t) + kRowsAlignment - 1) / kRowsAlignment *
           kRowsAlignment;
  }
  static std::int64_t* offsets(std::uint8_t* memory) { return reinterpret_cast<std::int64_t*>(memory); }
};

}  // namespace

const Arrangement& ragged_arrangement() {
  static const Ragged arrangement;
  return arrangement;
}

}  // namespace stoker
