// The memory begins with the number of each slot's rows; after it, aligned, are the values. Until they are sealed each
// slot has as much room as any may need; then all have as many rows.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "stoker/base/error.h"
#include "stoker/tensor/arrangement.h"
#include "stoker/tensor/row_room.h"

namespace stoker {
namespace {

class Padded final : public Arrangement {
 public:
  std::size_t bytes_max(const OutputSpec& spec, int slots) const override {
    assert(spec.row_padding->rows == spec.shape[0] && spec.row_padding->room >= spec.shape[0]);
    return rows_bytes_max(spec, spec.row_padding->room, slots, slots);
  }

  MutableBytes place(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot,
                     const Shape& shape) const override {
    check_rows(*spec.row_padding, shape[0]);
    if (shape[0] > spec.row_padding->room) {
      fail(ErrorKind::kLimit, "{} rows, and '{}' has room for {}", shape[0], spec.name, spec.row_padding->room);
    }
    counts(memory)[slot] = shape[0];
    return placed(spec, slots, memory, slot);
  }

  MutableBytes placed(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot) const override {
    const std::size_t room = row_bytes(spec) * static_cast<std::size_t>(spec.row_padding->room);
    return {memory + values_begin(slots) + room * static_cast<std::size_t>(slot),
            row_bytes(spec) * static_cast<std::size_t>(counts(memory)[slot])};
  }

  void pad(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot) const override {
    place(spec, slots, memory, slot, rows_shape(spec, 0));
  }

  std::size_t seal(const OutputSpec& spec, int slots, std::uint8_t* memory) const override {
    std::uint8_t* const values = memory + values_begin(slots);
    const std::size_t row = row_bytes(spec), all = bytes(spec),
                      room = row * static_cast<std::size_t>(spec.row_padding->room);
    for (std::size_t slot = 0; slot < static_cast<std::size_t>(slots); ++slot) {
      std::uint8_t* const out = values + all * slot;
      const std::size_t own = row * static_cast<std::size_t>(std::min(counts(memory)[slot], spec.shape[0]));
      std::memmove(out, values + room * slot, own);
      fill_elements(spec.dtype, spec.row_padding->fill, {out + own, all - own});
    }
    return values_begin(slots) + all * static_cast<std::size_t>(slots);
  }

  bool may_be(const OutputSpec& spec, int slots, Bytes sealed) const override {
    return sealed.size() == values_begin(slots) + bytes(spec) * static_cast<std::size_t>(slots);
  }

  Bytes value(const OutputSpec& spec, int slots, const std::uint8_t* memory, int slot) const override {
    return {memory + values_begin(slots) + bytes(spec) * static_cast<std::size_t>(slot), bytes(spec)};
  }

  std::vector<TensorView> tensors(const OutputSpec& spec, int slots, std::uint8_t* memory, std::size_t) const override {
    return {{memory + values_begin(slots), spec.dtype, spec.shape.with_outer(slots)}, {memory, DType::kI64, {slots}}};
  }

 private:
  static std::size_t bytes(const OutputSpec& spec) { return spec.bytes_per_sample(); }
  static std::int64_t* counts(std::uint8_t* memory) { return reinterpret_cast<std::int64_t*>(memory); }
};

}  // namespace

const Arrangement& padded_arrangement() {
  static const Padded arrangement;
  return arrangement;
}

}  // namespace stoker
