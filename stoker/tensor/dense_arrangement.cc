#include <cassert>
#include <cstring>

#include "stoker/tensor/arrangement.h"

namespace stoker {
namespace {

class Dense final : public Arrangement {
 public:
  std::size_t bytes_max(const OutputSpec& spec, int slots) const override {
    return spec.shape.with_outer(slots).bytes(size_of(spec.dtype));
  }

  MutableBytes place(const OutputSpec& spec, int, std::uint8_t* memory, int slot,
                     [[maybe_unused]] const Shape& shape) const override {
    assert(shape == spec.shape);
    return {memory + begin_of(spec, slot), spec.bytes_per_sample()};
  }

  MutableBytes placed(const OutputSpec& spec, int, std::uint8_t* memory, int slot) const override {
    return {memory + begin_of(spec, slot), spec.bytes_per_sample()};
  }

  void pad(const OutputSpec& spec, int slots, std::uint8_t* memory, int slot) const override {
    const MutableBytes value = placed(spec, slots, memory, slot);
    constexpr auto kNumber = static_cast<double>(kPaddingNumber);
    const bool is_number = !spec.is_image() && spec.shape.rank() == 0;
    if (spec.padding) {
      fill_elements(spec.dtype, static_cast<double>(*spec.padding), value);
    } else if (is_number && is_number_of(spec.dtype, kNumber)) {
      fill_elements(spec.dtype, kNumber, value);
    } else {
      std::memset(value.data(), 0, value.size());
    }
  }

  std::size_t seal(const OutputSpec& spec, int slots, std::uint8_t*) const override { return begin_of(spec, slots); }

  bool may_be(const OutputSpec& spec, int slots, Bytes sealed) const override {
    return sealed.size() == bytes_max(spec, slots);
  }

  Bytes value(const OutputSpec& spec, int, const std::uint8_t* memory, int slot) const override {
    return {memory + begin_of(spec, slot), spec.bytes_per_sample()};
  }

  std::vector<TensorView> tensors(const OutputSpec& spec, int slots, std::uint8_t* memory, std::size_t) const override {
    return {{memory, spec.dtype, spec.shape.with_outer(slots), spec.layout}};
  }

 private:
  static std::size_t begin_of(const OutputSpec& spec, int slot) {
    return spec.bytes_per_sample() * static_cast<std::size_t>(slot);
  }
};

}  // namespace

const Arrangement& dense_arrangement() {
  static const Dense arrangement;
  return arrangement;
}

}  // namespace stoker
