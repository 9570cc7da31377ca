#include "stoker/format/beton/beton_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::size_t kBetonHeaderBytes = 24, kNameBytes = 16, kArgumentsBytes = 1024;
constexpr std::size_t kFieldBytes = 1 + kNameBytes + kArgumentsBytes;
constexpr std::uint16_t kBetonVersion = 2;
constexpr std::uint8_t kOwnType = 255;

bool is_power_of_two(std::uint32_t number) { return number != 0 && (number & (number - 1)) == 0; }

/// A name of ASCII, with zeros to its end.
bool is_field_name(Bytes bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), 0);
  return end != bytes.begin() &&
         std::all_of(bytes.begin(), end, [](std::uint8_t c) { return c >= 0x20 && c < 0x7f; }) &&
         std::all_of(end, bytes.end(), [](std::uint8_t c) { return c == 0; });
}

/// "<f4" is "f32". Empty for a type of another order of bytes, or that has no such name.
std::string_view element_of(std::string_view numpy) {
  constexpr std::array<std::array<std::string_view, 2>, 12> kElements = {{{"|u1", "u8"},
                                                                          {"|b1", "u8"},
                                                                          {"|i1", "i8"},
                                                                          {"<u2", "u16"},
                                                                          {"<i2", "i16"},
                                                                          {"<f2", "f16"},
                                                                          {"<u4", "u32"},
                                                                          {"<i4", "i32"},
                                                                          {"<f4", "f32"},
                                                                          {"<u8", "u64"},
                                                                          {"<i8", "i64"},
                                                                          {"<f8", "f64"}}};
  const auto found = std::find_if(kElements.begin(), kElements.end(), [&](const auto& one) { return one[0] == numpy; });
  return found == kElements.end() ? std::string_view() : (*found)[1];
}

/// The arguments are 32 axes of 8 bytes, of which zeros at the end do not count, and a text of JSON: [["", "<f4"]].
void describe_array(BetonField& field, Bytes arguments) {
  constexpr std::size_t kAxes = 32, kTextAt = 8 * kAxes + 8;
  for (std::size_t i = 0; i < kAxes; ++i) {
    field.shape.push_back(load_little_endian<std::uint64_t>(arguments.data() + 8 * i));
  }
  while (!field.shape.empty() && field.shape.back() == 0) field.shape.pop_back();
  const auto length = load_little_endian<std::uint64_t>(arguments.data() + 8 * kAxes);
  if (length > arguments.size() - kTextAt) fail(ErrorKind::kData, "its type has {}", byte_count(length));
  const std::string_view text = as_text(arguments.subspan(kTextAt, length));
  const nlohmann::json json = parse_data_json(text);
  if (!json.is_array() || json.size() != 1 || !json[0].is_array() || json[0].size() < 2 || !json[0][1].is_string()) {
    fail(ErrorKind::kData, "its type is damaged");
  }
  field.element = element_of(json[0][1].get_ref<const std::string&>());
}

BetonField field_of(Bytes description) {
  if (!is_field_name(description.subspan(1, kNameBytes))) fail(ErrorKind::kData, "its name is damaged");
  const std::string_view name = as_text(description.subspan(1, kNameBytes));
  BetonField field{.name = std::string(name.substr(0, name.find('\0')))};
  const std::uint8_t type = description[0];
  if (type == kOwnType) {
    fail(ErrorKind::kData,
         "'{}' is of a type that the program which wrote it defined, so that nothing tells where samples lie; FFCV's "
         "own types can be read",
         field.name);
  }
  if (type > static_cast<std::uint8_t>(BetonType::kTensor)) {
    fail(ErrorKind::kData, "'{}' is of an unknown type, {}", field.name, type);
  }
  field.type = static_cast<BetonType>(type);
  const bool is_array = field.type == BetonType::kArray || field.type == BetonType::kTensor;
  if (is_array) describe_array(field, description.subspan(1 + kNameBytes));
  return field;
}

/// Numbers lie at multiples of their size; what has parts lies where it comes.
void place_fields(BetonHeader& header) {
  std::size_t at = 0, alignment = 1;
  for (BetonField& field : header.fields) {
    const bool is_image = field.type == BetonType::kImage;
    const bool has_parts = is_image || field.type == BetonType::kBytes || field.type == BetonType::kJson;
    if (!has_parts) {
      at = (at + 7) / 8 * 8;
      alignment = 8;
    }
    field.offset = at;
    at += is_image ? 13 : has_parts ? 16 : 8;
    if (field.is_allocated()) ++header.allocated;
  }
  header.metadata_bytes = (at + alignment - 1) / alignment * alignment;
}

}  // namespace

BetonHeader read_beton_header(Source& source) {
  const std::uint64_t size = source.size();
  const auto require = [&](std::uint64_t needed, std::string_view what) {
    if (needed <= size) return;
    fail(ErrorKind::kData, "'{}' is truncated: its {} end at byte {}, and it has {}", source.name(), what, needed,
         byte_count(size));
  };
  require(kBetonHeaderBytes, "first numbers");
  std::array<std::uint8_t, kBetonHeaderBytes> fixed;
  read_fully(source, 0, fixed);
  const auto version = load_little_endian<std::uint16_t>(fixed.data());
  const auto fields = load_little_endian<std::uint16_t>(fixed.data() + 2);
  BetonHeader header{.samples = load_little_endian<std::uint64_t>(fixed.data() + 8),
                     .metadata_at = kBetonHeaderBytes + kFieldBytes * std::uint64_t{fields},
                     .allocations_at = load_little_endian<std::uint64_t>(fixed.data() + 16)};
  if (version != kBetonVersion) {
    fail(ErrorKind::kData, "'{}' is of version {} of FFCV's format; Stoker reads version {}", source.name(), version,
         kBetonVersion);
  }
  if (fields == 0 || fields > kBetonFieldsMax) {
    fail(ErrorKind::kData, "'{}' has {} fields, and 1 to {} can be read", source.name(), fields, kBetonFieldsMax);
  }
  if (header.allocations_at == 0) {
    fail(ErrorKind::kData, "'{}' is not whole: its writer did not come to its end", source.name());
  }
  require(header.metadata_at, "fields");
  std::vector<std::uint8_t> text(kFieldBytes * fields);
  read_fully(source, kBetonHeaderBytes, text);
  for (std::size_t i = 0; i < fields; ++i) {
    try {
      header.fields.push_back(field_of(Bytes(text).subspan(kFieldBytes * i, kFieldBytes)));
    } catch (const Error& wrong) {
      fail(ErrorKind::kData, "'{}': field {} cannot be used: {}", source.name(), i, wrong.message());
    }
  }
  place_fields(header);
  require(header.allocations_at, "pages");
  if (header.allocations_at < header.metadata_at ||
      header.samples > (header.allocations_at - header.metadata_at) / header.metadata_bytes) {
    fail(ErrorKind::kData, "'{}' is damaged: its {} samples of {} do not fit before byte {}, where their table begins",
         source.name(), header.samples, byte_count(header.metadata_bytes), header.allocations_at);
  }
  const std::uint64_t allocations = header.samples * header.allocated;  // both are small by what was checked
  if (allocations > kBetonAllocationsMax) {
    fail(ErrorKind::kData, "'{}' has {} values in pages; Stoker reads files of up to {}", source.name(), allocations,
         kBetonAllocationsMax);
  }
  require(header.allocations_at + allocations * kBetonAllocationBytes, "allocations");
  if (size != header.allocations_at + allocations * kBetonAllocationBytes) {
    fail(ErrorKind::kData, "'{}' is damaged: its {} allocations end before its {} do", source.name(), allocations,
         byte_count(size));
  }
  return header;
}

bool is_beton(Bytes beginning) {
  if (beginning.size() < kBetonHeaderBytes + 1 + kNameBytes) return false;
  const auto fields = load_little_endian<std::uint16_t>(beginning.data() + 2);
  const std::uint8_t type = beginning[kBetonHeaderBytes];
  return load_little_endian<std::uint16_t>(beginning.data()) == kBetonVersion && fields > 0 &&
         fields <= kBetonFieldsMax && is_power_of_two(load_little_endian<std::uint32_t>(beginning.data() + 4)) &&
         (type <= static_cast<std::uint8_t>(BetonType::kTensor) || type == kOwnType) &&
         is_field_name(beginning.subspan(kBetonHeaderBytes + 1, kNameBytes));
}

}  // namespace stoker
