#include "stoker/format/mds/mds_columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/field_names.h"

namespace stoker {
namespace {

struct NumberType {
  std::string_view encoding;  // as a column's encoding and as an array's element
  std::string_view type;
  std::uint8_t number;  // in front of arrays
};

constexpr std::array<NumberType, 11> kNumberTypes = {{{"uint8", "u8", 8},
                                                      {"int8", "i8", 9},
                                                      {"uint16", "u16", 16},
                                                      {"int16", "i16", 17},
                                                      {"float16", "f16", 18},
                                                      {"uint32", "u32", 32},
                                                      {"int32", "i32", 33},
                                                      {"float32", "f32", 34},
                                                      {"uint64", "u64", 64},
                                                      {"int64", "i64", 65},
                                                      {"float64", "f64", 66}}};

const NumberType* number_type(std::string_view encoding) {
  const auto found = std::find_if(kNumberTypes.begin(), kNumberTypes.end(),
                                  [&](const NumberType& one) { return one.encoding == encoding; });
  return found == kNumberTypes.end() ? nullptr : &*found;
}

/// The number of elements of a shape "3,4".
std::uint64_t elements_of(std::string_view shape) {
  std::uint64_t elements = 1;
  for (std::size_t at = 0; at <= shape.size();) {
    const std::string_view digits = shape.substr(at, shape.find(',', at) - at);
    std::uint64_t axis = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), axis);
    if (error != std::errc() || end != digits.data() + digits.size() || axis == 0 ||
        elements > std::numeric_limits<std::uint32_t>::max() / axis) {
      fail(ErrorKind::kData, "its shape '{}' is not one", shape);
    }
    elements *= axis;
    at += digits.size() + 1;
  }
  return elements;
}

/// What follows "ndarray": nothing, ":float32" or ":float32:3,4".
void describe_array(MdsColumn& column, std::string_view rest) {
  column.kind = MdsKind::kArray;
  if (rest.empty()) return;
  rest.remove_prefix(1);
  const std::string_view name = rest.substr(0, rest.find(':'));
  const NumberType* const type = number_type(name);
  if (!type) fail(ErrorKind::kData, "its elements are of a type '{}' that is not known", name);
  column.type = type->type;
  if (name.size() == rest.size()) return;
  column.has_shape = true;
  const std::uint64_t bytes = elements_of(rest.substr(name.size() + 1)) * mds_type_bytes(type->type);
  if (bytes > std::numeric_limits<std::uint32_t>::max()) fail(ErrorKind::kData, "its arrays are too large");
  column.size = static_cast<std::uint32_t>(bytes);
}

struct ImageList {
  std::string_view encoding, type;
  bool has_reserved;
};

constexpr std::array<ImageList, 5> kImageLists = {{{"jpeg_array", "jpg", false},
                                                   {"jpegarray", "jpg", false},
                                                   {"list[jpeg]", "jpg", true},
                                                   {"list[png]", "png", true},
                                                   {"list[pil]", "pil", true}}};

MdsKind kind_of_text_or_bytes(std::string_view encoding) {
  if (encoding == "jpeg" || encoding == "png") return MdsKind::kImage;
  if (encoding == "pil") return MdsKind::kPixels;
  if (encoding == "json") return MdsKind::kJson;
  if (encoding == "pkl") return MdsKind::kPickle;
  if (encoding.starts_with("str")) return MdsKind::kText;  // also str_int, str_float, str_decimal
  return MdsKind::kBytes;
}

}  // namespace

MdsColumn mds_column(std::string name, std::string encoding) {
  check_name(name);
  MdsColumn column{.name = std::move(name), .encoding = std::move(encoding)};
  const std::string_view text = column.encoding;
  constexpr std::string_view kArray = "ndarray";
  if (text == kArray || (text.starts_with(kArray) && text[kArray.size()] == ':')) {
    describe_array(column, text.substr(kArray.size()));
  } else if (const NumberType* type = number_type(text == "int" ? "int64" : text)) {
    column.kind = type->type[0] == 'f' ? MdsKind::kFloat : MdsKind::kInteger;
    column.type = type->type;
    column.is_signed = type->type[0] == 'i';
    column.size = static_cast<std::uint32_t>(mds_type_bytes(type->type));
  } else if (const auto list = std::find_if(kImageLists.begin(), kImageLists.end(),
                                            [&](const ImageList& one) { return one.encoding == text; });
             list != kImageLists.end()) {
    column.kind = MdsKind::kImages;
    column.type = list->type;
    column.has_reserved = list->has_reserved;
  } else {
    column.kind = kind_of_text_or_bytes(text);
  }
  return column;
}

std::string_view mds_array_type(std::uint8_t number) {
  const auto found = std::find_if(kNumberTypes.begin(), kNumberTypes.end(),
                                  [&](const NumberType& one) { return one.number == number; });
  return found == kNumberTypes.end() ? std::string_view() : found->type;
}

std::size_t mds_type_bytes(std::string_view type) {
  if (type.ends_with("64")) return 8;
  if (type.ends_with("32")) return 4;
  return type.ends_with("16") ? 2 : 1;
}

}  // namespace stoker
