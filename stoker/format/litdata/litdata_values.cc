#include "stoker/format/litdata/litdata_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/image_list.h"
#include "stoker/format/litdata/litdata_nested.h"
#include "stoker/format/npy/npy_array.h"

namespace stoker {
namespace {

/// "f32" has 4.
std::uint64_t bytes_of_type(std::string_view type) {
  if (type.ends_with("64")) return 8;
  if (type.ends_with("32")) return 4;
  return type.ends_with("16") ? 2 : 1;
}

std::uint32_t load_u32(const std::uint8_t* from, bool is_big_endian) {
  const auto number = load_little_endian<std::uint32_t>(from);
  return is_big_endian ? number >> 24 | (number >> 8 & 0xff00) | (number << 8 & 0xff0000) | number << 24 : number;
}

/// A type and a shape, and after them the elements.
struct ArrayHeader {
  std::string_view type;
  bool is_big_endian = false;
  std::vector<std::uint64_t> shape;
  std::size_t bytes = 0;  // of the header

  bool is_image() const {
    if (type != "u8" || (shape.size() != 2 && shape.size() != 3)) return false;
    return shape.size() == 2 || shape[2] == 1 || shape[2] == 3 || shape[2] == 4;
  }
};

/// Nothing if the value is not one whose elements are what the header asks for.
std::optional<ArrayHeader> array_header(Bytes value, bool is_big_endian, std::string_view (*type_of)(std::uint32_t)) {
  constexpr std::size_t kFixedBytes = 8;
  if (value.size() < kFixedBytes) return std::nullopt;
  ArrayHeader header{
      .type = type_of(load_u32(value.data(), is_big_endian)), .is_big_endian = is_big_endian, .shape = {}};
  const std::uint64_t axes = load_u32(value.data() + 4, is_big_endian);
  if (header.type.empty() || axes > (value.size() - kFixedBytes) / 4) return std::nullopt;
  header.bytes = kFixedBytes + 4 * axes;
  std::uint64_t bytes = bytes_of_type(header.type);
  const std::uint64_t there = value.size() - header.bytes;
  for (std::uint64_t axis = 0; axis < axes; ++axis) {
    header.shape.push_back(load_u32(value.data() + kFixedBytes + 4 * axis, is_big_endian));
    if (header.shape.back() > 0 && bytes > std::numeric_limits<std::uint64_t>::max() / header.shape.back()) {
      return std::nullopt;
    }
    bytes *= header.shape.back();
  }
  return bytes == there ? std::optional(std::move(header)) : std::nullopt;
}

}  // namespace

const std::vector<RowValue>& LitDataValues::split(Bytes item, std::uint64_t offset) {
  item_ = item;
  offset_ = offset;
  values_.clear();
  if (!list_.has_sizes) {
    add(list_.leaves.front(), item);
    return values_;
  }
  const std::size_t sizes_bytes = list_.leaves.size() * sizeof(std::uint32_t);
  if (item.size() < sizes_bytes) {
    fail(ErrorKind::kData, "it has {}, and no sizes of its {} values", byte_count(item.size()), list_.leaves.size());
  }
  Bytes rest = item.subspan(sizes_bytes);
  const std::uint8_t* size = item.data();
  for (const LitDataLeaf& leaf : list_.leaves) {
    const auto length = load_little_endian<std::uint32_t>(size);
    size += sizeof(std::uint32_t);
    if (length > rest.size()) {
      fail(ErrorKind::kData, "its '{}' is said to have {}, and {} are left", leaf.name, byte_count(length),
           rest.size());
    }
    add(leaf, rest.first(length));
    rest = rest.subspan(length);
  }
  if (!rest.empty()) fail(ErrorKind::kData, "{} follow its last value", byte_count(rest.size()));
  return values_;
}

RowValue& LitDataValues::push(std::string_view name, Bytes value, std::string_view ending) {
  const auto begin = static_cast<std::uint64_t>(value.data() - item_.data());
  values_.push_back({.name = name, .offset = offset_ + begin, .length = value.size(), .ending = ending});
  return values_.back();
}

void LitDataValues::add(const LitDataLeaf& leaf, Bytes value) {
  const auto require_bytes = [&](std::size_t count) {
    if (value.size() == count) return;
    fail(ErrorKind::kData, "its '{}' has {}, and one of '{}' has {}", leaf.name, byte_count(value.size()),
         leaf.serializer, count);
  };
  switch (leaf.kind) {
    case LitDataKind::kPickle: return;
    case LitDataKind::kText: push(leaf.name, value).text = as_text(value); return;
    case LitDataKind::kInteger:
      require_bytes(sizeof(std::int64_t));
      push(leaf.name, value, "i64").integer = load_little_endian<std::int64_t>(value.data());
      return;
    case LitDataKind::kTruth:
      require_bytes(1);
      push(leaf.name, value, "u8").integer = value[0] != 0 ? 1 : 0;
      return;
    case LitDataKind::kFloat:
      require_bytes(sizeof(double));
      push(leaf.name, value, "f64");
      return;
    case LitDataKind::kNumbers: push(leaf.name, value, leaf.type); return;
    case LitDataKind::kNumpy:
    case LitDataKind::kTensor: return add_array(leaf, value);
    case LitDataKind::kImages: return add_images(leaf, value);
    case LitDataKind::kPixels: return add_pixels(leaf, value);
    case LitDataKind::kNested: return add_nested(leaf, value);
    case LitDataKind::kImage:
    case LitDataKind::kBytes: break;
  }
  std::string_view extension = extension_of_bytes(value);
  if (extension.empty() && leaf.kind == LitDataKind::kImage) {  // what is wrong with it its decoder says
    extension = leaf.extension.empty() ? std::string_view("jpg") : std::string_view(leaf.extension);
  }
  const bool is_image = !extension.empty() && extension != "npy";
  push(leaf.name, value, is_image ? extension : std::string_view(leaf.extension)).is_image = is_image;
}

/// The elements as they lie there, and the shape as a field of its own.
void LitDataValues::add_array(const LitDataLeaf& leaf, Bytes value) {
  const bool is_numpy = leaf.kind == LitDataKind::kNumpy;
  const auto type_of = is_numpy ? litdata_numpy_type : litdata_torch_type;
  std::optional<ArrayHeader> header = array_header(value, false, type_of);
  if (!header && !is_numpy) header = array_header(value, true, type_of);  // as newer versions of litdata write it
  if (!header) {
    const std::uint32_t number = value.size() < 4 ? 0 : load_u32(value.data(), false);
    if (value.size() >= 4 && type_of(number).empty() && type_of(load_u32(value.data(), true)).empty()) {
      push(leaf.name, value);  // of elements that Stoker has no name for
      return;
    }
    fail(ErrorKind::kData, "its array '{}' has {}, which are not what its shape asks for", leaf.name,
         byte_count(value.size()));
  }
  const Bytes elements = value.subspan(header->bytes);
  if (header->is_image() && add_picture(leaf, header->shape, elements)) return;
  if (!header->shape.empty()) {
    const Bytes shape = value.subspan(8, header->bytes - 8);
    push(names_.keep(leaf.name + ".shape"), shape, header->is_big_endian ? "u32be" : "u32");
  }
  push(leaf.name, elements, header->type);
}

void LitDataValues::add_images(const LitDataLeaf& leaf, Bytes value) {
  split_image_list(value, leaf.name, images_);
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const std::string_view extension = extension_of_bytes(images_[i]);
    const std::string_view name = names_.keep(fmt::format("{}.{}", leaf.name, i));
    push(name, images_[i], extension.empty() ? "jpg" : extension).is_image = true;
  }
}

void LitDataValues::add_pixels(const LitDataLeaf& leaf, Bytes value) {
  constexpr std::size_t kFixedBytes = 12;
  if (value.size() < kFixedBytes) fail(ErrorKind::kData, "its '{}' has no width and height", leaf.name);
  const std::uint64_t width = load_little_endian<std::uint32_t>(value.data());
  const std::uint64_t height = load_little_endian<std::uint32_t>(value.data() + 4);
  const std::uint64_t mode_bytes = load_little_endian<std::uint32_t>(value.data() + 8);
  if (mode_bytes > value.size() - kFixedBytes) fail(ErrorKind::kData, "its '{}' ends in its mode", leaf.name);
  const std::string_view mode = as_text(value.subspan(kFixedBytes, mode_bytes));
  const Bytes pixels = value.subspan(kFixedBytes + mode_bytes);
  const std::uint64_t channels = mode == "L" ? 1 : mode == "RGB" ? 3 : mode == "RGBA" ? 4 : 0;
  if (channels == 0) {
    push(leaf.name, value, "pil");
    return;
  }
  std::vector<std::uint64_t> shape = {height, width};
  if (channels > 1) shape.push_back(channels);
  if (add_picture(leaf, std::move(shape), pixels)) return;
  fail(ErrorKind::kData, "its '{}' is said to be {} x {} pixels in {}, and has {}", leaf.name, width, height, mode,
       byte_count(pixels.size()));
}

void LitDataValues::add_nested(const LitDataLeaf& leaf, Bytes value) {
  const std::vector<LitDataNestedValue> nested = nested_litdata_values(leaf.name, value);
  if (nested.size() > kLitDataNestedMax) {
    passed_over_.insert(leaf.name);
    return;
  }
  for (const LitDataNestedValue& one : nested) {
    RowValue& added = push(names_.keep(one.name), one.bytes, one.ending);
    if (one.is_text) added.text = as_text(one.bytes);
    added.integer = one.integer;
  }
}

/// False for what is not a picture of that shape.
bool LitDataValues::add_picture(const LitDataLeaf& leaf, std::vector<std::uint64_t> shape, Bytes pixels) {
  std::uint64_t left = pixels.size();
  for (const std::uint64_t axis : shape) {
    if (axis == 0 || left % axis != 0) return false;
    left /= axis;
  }
  if (left != 1) return false;
  if (++pictures_ > kPicturesMax) {
    fail(ErrorKind::kData, "with it the chunk has more than {} pictures of pixels; Stoker reads so many", kPicturesMax);
  }
  shape.insert(shape.begin(), 1);
  const NpyArray one{.type = "u1", .shape = std::move(shape)};
  const auto begin = static_cast<std::uint64_t>(pixels.data() - item_.data());
  HeadedRows rows{.head = one.row_header(), .offset = offset_ + begin, .length = pixels.size()};
  RowValue& value = push(leaf.name, pixels, "npy");
  value.is_image = true;
  value.length = rows.row_bytes();
  value.offset = places_.add(std::move(rows));
  return true;
}

}  // namespace stoker
