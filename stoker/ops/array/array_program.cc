#include "stoker/ops/array/array_program.h"

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/ops/array/array_numbers.h"
#include "stoker/tensor/field_number.h"

namespace stoker {
namespace {

// Of the output, before it is known whether there are such axes.
std::int64_t cropped_extent(const ArrayProgram& program, std::size_t axis) {
  if (!program.crop) return ArrayProgram::kWhole;
  const std::size_t axes = program.crop->size.size(), from_last = program.rank() - 1 - axis;
  return from_last < axes ? program.crop->size[axes - 1 - from_last] : ArrayProgram::kWhole;
}

std::int64_t output_extent(const ArrayProgram& program, std::size_t axis) {
  const std::int64_t cropped = cropped_extent(program, axis);
  if (cropped != ArrayProgram::kWhole) return cropped;
  return program.shape ? (*program.shape)[axis] : ArrayProgram::kAny;
}

}  // namespace

bool ArrayProgram::is_ragged() const { return rank() > 0 && output_extent(*this, 0) == kAny; }

Shape ArrayProgram::output_shape() const {
  Shape output;
  for (std::size_t axis = 0; axis < rank(); ++axis) {
    const std::int64_t extent = output_extent(*this, axis);
    if (extent == kAny && axis > 0) {
      fail(ErrorKind::kUsage,
           "its size along axis {} depends on the sample, so samples cannot form a batch; say it by shape, or add "
           "array_crop",
           axis);
    }
    output.append(extent == kAny ? most : extent);
  }
  return output;
}

void ArrayProgram::check() const {
  if (!shape && !crop && !number_type_in_name(field)) {
    fail(ErrorKind::kUsage, "it must say how many axes arrays have: decode_array(shape=[3, -1]), or add array_crop");
  }
  if (rank() > ArrayLayout::kAxesMax) {
    fail(ErrorKind::kUsage, "arrays can have {} axes at most, not {}", ArrayLayout::kAxesMax, rank());
  }
  if (crop && crop->size.size() > rank()) {
    fail(ErrorKind::kUsage, "array_crop crops {} axes, and shape has {}", crop->size.size(), rank());
  }
  for (const ArrayFlip& flip : flips) {
    if (*std::max_element(flip.axes.begin(), flip.axes.end()) >= rank()) {
      fail(ErrorKind::kUsage, "array_flip flips an axis that arrays of {} axes do not have", rank());
    }
  }
  for (const ArrayStep& step : steps) {
    const std::size_t channels = step.low.size();
    if (channels == 1 || output_extent(*this, 0) == static_cast<std::int64_t>(channels)) continue;
    fail(ErrorKind::kUsage,
         "array_normalize has {} numbers, one for each place along the first axis, which must be as long", channels);
  }
  std::uint8_t room[sizeof(double)];
  const StoredNumbers padding{reinterpret_cast<const std::uint8_t*>(&fill), 0, 1, DType::kF64, false};
  if (steps.empty() && convert_numbers(padding, dtype, room)) {
    fail(ErrorKind::kUsage, "fill is {}, which dtype='{}' does not have", fill, to_string(dtype));
  }
  if (!steps.empty() && dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kBF16) {
    fail(ErrorKind::kUsage, "what its operators compute are fractions: dtype must be f32, f16 or bf16, not '{}'",
         to_string(dtype));
  }
}

}  // namespace stoker
