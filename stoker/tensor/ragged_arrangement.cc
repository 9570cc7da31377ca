// Rows of one shape, of each slot as many as it has. Offsets first, one more than there are slots; then the values.
// Until they are sealed each slot has as much room as any may need.
#include <cstring>

#include "stoker/base/error.h"
#include "stoker/tensor/arrangement.h"
#include "stoker/tensor/row_room.h"

namespace stoker {
namespace {

class Ragged final : public Arrangement {
 public:
  std::size_t bytes_max(const OutputSpec& spec, int slots) const override {
    return rows_bytes_max(spec, spec.shape[0], slots, slots + 1);
  }

  MutableBytes place(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot,
                     const Shape& shape) const override {
    if (shape[0] > spec.shape[0]) {
      fail(ErrorKind::kLimit, "{} rows, and '{}' has room for {}", shape[0], spec.name, spec.shape[0]);
    }
    offsets(memory)[slot + 1] = shape[0];
    return placed(spec, slots, memory, slot);
  }

  MutableBytes placed(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot) const override {
    return {memory + values_begin(slots + 1) + room(spec) * static_cast<std::size_t>(slot),
            row_bytes(spec) * static_cast<std::size_t>(offsets(memory)[slot + 1])};
  }

  void pad(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot) const override {
    place(spec, slots, memory, slot, rows_shape(spec, 0));
  }

  std::size_t seal(const OutputSpec& spec, int slots, std::uint8_t* memory) const override {
    std::uint8_t* const values = memory + values_begin(slots + 1);
    std::int64_t* const offset = offsets(memory);
    const std::size_t row = row_bytes(spec);
    offset[0] = 0;
    for (int slot = 0; slot < slots; ++slot) {
      const auto rows = static_cast<std::size_t>(offset[slot + 1]);
      std::memmove(values + row * static_cast<std::size_t>(offset[slot]),
                   values + room(spec) * static_cast<std::size_t>(slot), row * rows);
      offset[slot + 1] += offset[slot];
    }
    return values_begin(slots + 1) + row * static_cast<std::size_t>(offset[slots]);
  }

  bool may_be(const OutputSpec& spec, int slots, Bytes sealed) const override {
    const std::size_t begin = values_begin(slots + 1);
    if (sealed.size() < begin) return false;
    const auto* const offset = reinterpret_cast<const std::int64_t*>(sealed.data());
    if (offset[0] != 0) return false;
    for (int slot = 0; slot < slots; ++slot) {
      if (offset[slot + 1] < offset[slot] || offset[slot + 1] - offset[slot] > spec.shape[0]) return false;
    }
    return sealed.size() == begin + row_bytes(spec) * static_cast<std::size_t>(offset[slots]);
  }

  Bytes value(const OutputSpec& spec, int slots, const std::uint8_t* memory, int slot) const override {
    const auto* const offset = reinterpret_cast<const std::int64_t*>(memory);
    const std::size_t row = row_bytes(spec);
    return {memory + values_begin(slots + 1) + row * static_cast<std::size_t>(offset[slot]),
            row * static_cast<std::size_t>(offset[slot + 1] - offset[slot])};
  }

  std::vector<TensorView> tensors(const OutputSpec& spec, int slots, std::uint8_t* memory,
                                  std::size_t used) const override {
    const auto rows = static_cast<std::int64_t>((used - values_begin(slots + 1)) / row_bytes(spec));
    return {{memory + values_begin(slots + 1), spec.dtype, rows_shape(spec, rows)}, {memory, DType::kI64, {slots + 1}}};
  }

 private:
  static std::size_t room(const OutputSpec& spec) { return row_bytes(spec) * static_cast<std::size_t>(spec.shape[0]); }
  static std::int64_t* offsets(std::uint8_t* memory) { return reinterpret_cast<std::int64_t*>(memory); }
};

}  // namespace

const Arrangement& ragged_arrangement() {
  static const Ragged arrangement;
  return arrangement;
}

}  // namespace stoker
