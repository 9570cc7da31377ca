#include "stoker/format/mds/mds_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/class_number.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/image_list.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

using Names = std::span<const std::string_view>;

// The usual names of columns, in lower case, in the order in which they are looked for.
constexpr std::string_view kMdsImageNames[] = {"image", "img", "x", "encoded", "image_bytes", "picture"};
constexpr std::string_view kMdsLabelNames[] = {"label", "cls", "class", "y", "target"};
constexpr std::string_view kMdsTextLabelNames[] = {"cls"};
constexpr std::string_view kMdsKeyNames[] = {kMdsKeyColumn, "filename", "file_name", "path"};

/// The first column of these names that `fits`.
template <typename Fits>
std::optional<std::size_t> find_column(const std::vector<MdsColumn>& columns, Names names, const Fits& fits) {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (is_called(columns[i].name, name) && fits(i)) return i;
    }
  }
  return std::nullopt;
}

/// The number that the bytes of an integer column hold; nothing above 2^63.
std::optional<std::int64_t> integer_of(const MdsColumn& column, Bytes bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) number |= std::uint64_t{bytes[i]} << (8 * i);
  const auto bits = static_cast<unsigned>(8 * bytes.size());
  if (column.is_signed && bits < 64 && (number >> (bits - 1)) != 0) number |= ~std::uint64_t{0} << bits;
  const auto value = static_cast<std::int64_t>(number);
  return !column.is_signed && value < 0 ? std::nullopt : std::optional(value);
}

bool may_be_image(const MdsColumn& column) { return column.kind == MdsKind::kImage || column.kind == MdsKind::kBytes; }

bool says_what_it_holds(std::string_view name, std::string_view extension) {
  return name == extension || (name.ends_with(extension) && name[name.size() - extension.size() - 1] == '.');
}

}  // namespace

MdsRows::MdsRows(std::vector<MdsColumn> columns, std::string_view file)
    : columns_(std::move(columns)),
      key_prefix_(key_prefix_of_file(file, {".zstd", ".zst", ".gz", ".snappy", ".mds"})),
      values_(columns_.size()),
      usual_image_(kMdsImageNames) {
  for (const MdsColumn& column : columns_) {
    if (may_be_image(column)) usual_image_.expect(column.name);
  }
}

void MdsRows::read(Bytes sample, const MdsSamplePlace& place, SampleRow& row) {
  sample_ = sample;
  place_ = place;
  split_values();
  label_.reset();
  set_key(row);
  set_label(row);
  image_ = image();
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (label_ == i || columns_[i].name == kMdsKeyColumn) continue;  // the row has them
    add_column(row, i);
  }
  if (row.fields.empty()) {
    name_ = "sample";
    add_field(row, sample_);
  }
  std::sort(row.fields.begin(), row.fields.end(),
            [](const SampleField& a, const SampleField& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(row.fields.begin(), row.fields.end(),
                                        [](const SampleField& a, const SampleField& b) { return a.name == b.name; });
  if (twice != row.fields.end()) fail(ErrorKind::kData, "it has two values for the field '{}'", twice->name);
}

void MdsRows::split_values() {
  const auto varies = static_cast<std::size_t>(
      std::count_if(columns_.begin(), columns_.end(), [](const MdsColumn& one) { return !one.size; }));
  if (sample_.size() < varies * sizeof(std::uint32_t)) {
    fail(ErrorKind::kData, "it has {}, and no sizes of its {} values", byte_count(sample_.size()), varies);
  }
  const std::uint8_t* size = sample_.data();
  Bytes rest = sample_.subspan(varies * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const MdsColumn& column = columns_[i];
    std::uint32_t length = column.size.value_or(0);
    if (!column.size) {
      length = load_little_endian<std::uint32_t>(size);
      size += sizeof(std::uint32_t);
    }
    if (length > rest.size()) {
      fail(ErrorKind::kData, "its '{}' is said to have {}, and {} are left", column.name, byte_count(length),
           rest.size());
    }
    values_[i] = {.bytes = rest.first(length), .extension = {}};
    rest = rest.subspan(length);
    if (may_be_image(column)) values_[i].extension = extension_of_bytes(values_[i].bytes);
    if (column.kind == MdsKind::kImage && values_[i].extension.empty()) {
      values_[i].extension = column.encoding == "png" ? "png" : "jpg";  // what is wrong with it its decoder says
    }
  }
  if (!rest.empty()) fail(ErrorKind::kData, "{} follow its last value", byte_count(rest.size()));
}

void MdsRows::set_key(SampleRow& row) {
  const auto names_something = [&](std::size_t i) {
    return columns_[i].kind == MdsKind::kText && !values_[i].bytes.empty();
  };
  if (const auto found = find_column(columns_, kMdsKeyNames, names_something)) {
    const std::string_view name = as_text(values_[*found].bytes);
    const bool is_key = columns_[*found].name == kMdsKeyColumn;
    row.key = is_key ? std::string(name) : key_of_file(name);
  } else {
    row.key = fmt::format("{}{:08}", key_prefix_, place_.number);
  }
}

void MdsRows::set_label(SampleRow& row) {
  const auto is_integer = [&](std::size_t i) { return columns_[i].kind == MdsKind::kInteger; };
  if (const auto found = find_column(columns_, kMdsLabelNames, is_integer)) {
    const std::optional<std::int64_t> number = integer_of(columns_[*found], values_[*found].bytes);
    row.label = std::max<std::int64_t>(number.value_or(-1), -1);
    label_ = found;
    return;
  }
  const auto is_digits = [&](std::size_t i) { return columns_[i].encoding == "str_int"; };
  const auto is_text = [&](std::size_t i) { return columns_[i].kind == MdsKind::kText; };
  auto found = find_column(columns_, kMdsLabelNames, is_digits);
  if (!found) found = find_column(columns_, kMdsTextLabelNames, is_text);
  if (!found) return;
  const std::string_view digits = as_text(values_[*found].bytes);
  row.label = parse_class_number(digits, digits.size()).value_or(-1);
}

UsualImage::Choice MdsRows::image() {
  image_values_.clear();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    image_values_.push_back({.name = columns_[i].name,
                             .extension = values_[i].extension,
                             .is_bytes = may_be_image(columns_[i]) && !values_[i].bytes.empty()});
  }
  return usual_image_.choose(image_values_);
}

void MdsRows::add_column(SampleRow& row, std::size_t i) {
  const MdsColumn& column = columns_[i];
  std::string_view extension = values_[i].extension;
  if (image_.number == static_cast<std::ptrdiff_t>(i)) {
    name_ = image_.extension;
    return add_field(row, values_[i].bytes);
  }
  assign_lower_case(name_, column.name);
  switch (column.kind) {
    case MdsKind::kPickle: return;
    case MdsKind::kImages: return add_images(row, column, values_[i].bytes);
    case MdsKind::kArray: return add_array(row, column, values_[i].bytes);
    case MdsKind::kInteger:
    case MdsKind::kFloat: extension = column.type; break;
    case MdsKind::kPixels: extension = "pil"; break;
    case MdsKind::kJson: extension = "json"; break;
    case MdsKind::kText: break;
    case MdsKind::kImage:
    case MdsKind::kBytes:
      if (image_.is_missing || is_image_field_name(name_)) extension = {};
      break;
  }
  if (!extension.empty() && !says_what_it_holds(name_, extension)) name_.append(".").append(extension);
  add_field(row, values_[i].bytes);
}

void MdsRows::add_images(SampleRow& row, const MdsColumn& column, Bytes bytes) {
  const std::size_t reserved = column.has_reserved ? sizeof(std::uint32_t) : 0;
  split_image_list(bytes.subspan(std::min(reserved, bytes.size())), column.name, images_);
  const std::string name = name_;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const bool is_encoded = column.type != "pil";
    const std::string_view extension = is_encoded ? extension_of_bytes(images_[i]) : std::string_view();
    name_ = fmt::format("{}.{}", name, i);
    const bool is_named = is_encoded && image_.is_missing;
    if (!is_named) name_.append(".").append(extension.empty() ? column.type : extension);
    add_field(row, images_[i]);
  }
}

/// The values as they lie there, and what stands in front of them: the type in the name, the shape as a field of its
/// own.
void MdsRows::add_array(SampleRow& row, const MdsColumn& column, Bytes bytes) {
  const auto take = [&](std::size_t count) {
    if (bytes.size() < count) fail(ErrorKind::kData, "its array '{}' is too short for its shape", column.name);
    const Bytes taken = bytes.first(count);
    bytes = bytes.subspan(count);
    return taken;
  };
  std::string_view type = column.type;
  if (type.empty()) {
    const std::uint8_t number = take(1)[0];
    type = mds_array_type(number);
    if (type.empty()) fail(ErrorKind::kData, "its array '{}' is of an unknown type, {}", column.name, number);
  }
  const std::string name = name_;
  if (!column.has_shape) {
    const std::uint8_t axes = take(1)[0];
    const std::size_t axis_bytes = std::size_t{1} << (axes & 3);
    const Bytes shape = take((axes >> 2) * axis_bytes);
    if (!shape.empty()) {
      name_ = fmt::format("{}.shape.u{}", name, 8 * axis_bytes);
      add_field(row, shape);
    }
  }
  name_ = fmt::format("{}.{}", name, type);
  add_field(row, bytes);
}

/// Its name is `name_`.
void MdsRows::add_field(SampleRow& row, Bytes value) {
  std::replace(name_.begin(), name_.end(), '/', '.');
  if (name_.empty()) name_ = "value";
  const auto begin = static_cast<std::uint64_t>(value.data() - sample_.data());
  row.fields.push_back(
      {.name = names_.keep(name_), .part = {}, .offset = place_.offset + begin, .length = value.size()});
}

}  // namespace stoker
