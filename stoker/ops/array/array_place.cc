#include "stoker/ops/array/array_place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

// Leading axes of one place are left out, or added, until there are as many as the output has.
std::size_t axes_left_out(const ArrayProgram& program, const Shape& stored) {
  const std::size_t rank = program.rank(), extra = stored.rank() > rank ? stored.rank() - rank : 0;
  for (std::size_t axis = 0; axis < extra; ++axis) {
    if (stored[axis] == 1) continue;
    fail(ErrorKind::kBadSample, "its array '{}' has the shape {}, and the recipe wants {} axes", program.field,
         array_shape_text(stored), rank);
  }
  return extra;
}

void check_declared(const ArrayProgram& program, const Shape& stored, const ArrayBox& box) {
  if (!program.shape) return;
  for (std::size_t axis = 0; axis < box.rank; ++axis) {
    const std::int64_t declared = (*program.shape)[axis];
    if (declared == ArrayProgram::kAny || declared == box.axes[axis].count) continue;
    fail(ErrorKind::kBadSample, "its array '{}' has the shape {}, and the recipe says ({})", program.field,
         array_shape_text(stored), fmt::join(*program.shape, ", "));
  }
}

constexpr std::uint64_t kAroundStream = 1;  // beside that of the place

void crop_axis(const ArrayProgram& program, std::int64_t size, Random& random, const std::int64_t* around,
               ArrayAxis& axis) {
  const ArrayCrop& crop = *program.crop;
  const std::int64_t extent = axis.count;
  axis.size = size;
  if (extent < size) {
    if (!crop.pads) {
      fail(ErrorKind::kBadSample, "an axis of its array '{}' is {} long, and the crop {}: use smaller='pad'",
           program.field, extent, size);
    }
    axis.before = crop.place == CropPlace::kBegin ? 0 : (size - extent) / 2;
    return;
  }
  axis.count = size;
  const auto room = static_cast<std::uint64_t>(extent - size);
  if (crop.place == CropPlace::kRandom) axis.begin = static_cast<std::int64_t>(random.below(room + 1));
  if (around) axis.begin = std::clamp<std::int64_t>(*around - size / 2, 0, extent - size);
  if (crop.place == CropPlace::kCenter) axis.begin = static_cast<std::int64_t>(room / 2);
}

void crop_box(const ArrayProgram& program, const SampleDraw& draw, const ArrayPoint* around, ArrayBox& box) {
  const ArrayCrop& crop = *program.crop;
  Random random(draw.seed, draw.epoch, draw.position, crop.stream);
  const std::size_t first = box.rank - crop.size.size();
  for (std::size_t i = 0; i < crop.size.size(); ++i) {
    if (crop.size[i] == ArrayProgram::kWhole) continue;
    const std::size_t from_last = crop.size.size() - 1 - i;
    const std::int64_t* const place = around && from_last < around->size() ? &(*around)[from_last] : nullptr;
    crop_axis(program, crop.size[i], random, place, box.axes[first + i]);
  }
}

}  // namespace

Shape ArrayBox::shape() const {
  Shape shape;
  for (std::size_t axis = 0; axis < rank; ++axis) shape.append(axes[axis].size);
  return shape;
}

bool ArrayBox::is_empty() const {
  return std::any_of(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(rank),
                     [](const ArrayAxis& axis) { return axis.count == 0; });
}

std::optional<Random> draw_around(const ArrayProgram& program, const SampleDraw& draw) {
  if (!program.crop || program.crop->around.empty()) return {};
  Random random = Random(draw.seed, draw.epoch, draw.position, program.crop->stream).branch(kAroundStream);
  if (random.uniform() >= program.crop->around_p) return {};
  return random;
}

ArrayBox draw_array_box(const ArrayProgram& program, const ArrayLayout& stored, const SampleDraw& draw,
                        const ArrayPoint* around) {
  ArrayBox box;
  box.rank = program.rank();
  const std::size_t left_out = axes_left_out(program, stored.shape);
  const std::size_t added = box.rank - (stored.shape.rank() - left_out);
  const ArrayLayout::Strides strides = stored.strides();
  for (std::size_t axis = added; axis < box.rank; ++axis) {
    const std::size_t from = axis - added + left_out;
    box.axes[axis].size = box.axes[axis].count = stored.shape[from];
    box.axes[axis].stride = strides[from];
  }
  check_declared(program, stored.shape, box);
  if (program.crop) crop_box(program, draw, around, box);
  if (program.is_ragged() && box.axes[0].size > program.most) {
    fail(ErrorKind::kBadSample, "its array '{}' has {}, and there is room for {}: use a larger most", program.field,
         counted(box.axes[0].size, "row"), program.most);
  }
  for (const ArrayFlip& flip : program.flips) {
    Random random(draw.seed, draw.epoch, draw.position, flip.stream);
    for (const std::size_t from_last : flip.axes) {
      if (random.uniform() < flip.p) box.axes[box.rank - 1 - from_last].is_flipped ^= true;
    }
  }
  return box;
}

void check_array_sizes(const ArrayProgram& program, const ArrayLayout& stored, const std::string& other,
                       const ArrayLayout& layout_of_other) {
  if (!program.crop) return;
  const std::size_t axes = program.crop->size.size();
  const auto extent = [](const Shape& shape, std::size_t from_last) {
    return from_last < shape.rank() ? shape[shape.rank() - 1 - from_last] : std::int64_t{1};
  };
  for (std::size_t i = 0; i < axes; ++i) {
    if (program.crop->size[axes - 1 - i] == ArrayProgram::kWhole) continue;
    if (extent(stored.shape, i) == extent(layout_of_other.shape, i)) continue;
    fail(ErrorKind::kBadSample, "its arrays '{}' and '{}' have the shapes {} and {}: they cannot be cropped alike",
         program.field, other, array_shape_text(stored.shape), array_shape_text(layout_of_other.shape));
  }
}

std::string array_shape_text(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape.extents(), ", "), shape.rank() == 1 ? "," : "");
}

}  // namespace stoker
