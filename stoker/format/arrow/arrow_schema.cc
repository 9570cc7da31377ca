#include "stoker/format/arrow/arrow_schema.h"

#include <utility>

#include "stoker/base/error.h"

namespace stoker {
namespace {

// Numbers of fields, by the schemas that Arrow publishes: format/Schema.fbs.
enum SchemaSlot : std::size_t { kSchemaEndianness = 0, kSchemaFields = 1 };
enum FieldSlot : std::size_t {
  kFieldName = 0,
  kFieldTypeNumber = 2,
  kFieldType = 3,
  kFieldDictionary = 4,
  kFieldChildren = 5
};
enum IntSlot : std::size_t { kIntBits = 0, kIntIsSigned = 1 };
enum FloatSlot : std::size_t { kFloatPrecision = 0 };

constexpr int kArrowDepthMax = 32;

/// The kind of a type's number, and the width of its offsets.
struct ArrowType {
  std::uint8_t number;
  ArrowKind kind;
  std::uint32_t offset_bytes = 0;
};

constexpr ArrowType kArrowTypes[] = {{1, ArrowKind::kNull},     {2, ArrowKind::kInteger}, {3, ArrowKind::kFloat},
                                     {4, ArrowKind::kBytes, 4}, {5, ArrowKind::kText, 4}, {6, ArrowKind::kTruth},
                                     {12, ArrowKind::kList, 4}, {13, ArrowKind::kStruct}, {19, ArrowKind::kBytes, 8},
                                     {20, ArrowKind::kText, 8}, {21, ArrowKind::kList, 8}};

void set_number(const FlatTable& type, ArrowField& field) {
  if (field.kind == ArrowKind::kFloat) {
    const auto precision = type.number<std::int16_t>(kFloatPrecision);
    if (precision < 0 || precision > 2) fail(ErrorKind::kData, "its column '{}' has an unknown precision", field.name);
    field.width = 2U << precision;
    field.ending = precision == 0 ? "f16" : precision == 1 ? "f32" : "f64";
    return;
  }
  const auto bits = type.number<std::int32_t>(kIntBits);
  const bool is_signed = type.number<std::uint8_t>(kIntIsSigned) != 0;
  switch (bits) {
    case 8: field.ending = is_signed ? "i8" : "u8"; break;
    case 16: field.ending = is_signed ? "i16" : "u16"; break;
    case 32: field.ending = is_signed ? "i32" : "u32"; break;
    case 64: field.ending = is_signed ? "i64" : "u64"; break;
    default: fail(ErrorKind::kData, "its column '{}' has integers of {} bits", field.name, bits);
  }
  field.width = static_cast<std::uint32_t>(bits) / 8;
}

std::vector<ArrowField> fields_in(const FlatTable& table, std::size_t slot, int depth, std::size_t& left);

ArrowField arrow_field(const FlatTable& table, int depth, std::size_t& left) {
  ArrowField field{.name = std::string(table.text(kFieldName))};
  if (table.table(kFieldDictionary)) {
    fail(ErrorKind::kData, "its column '{}' has a dictionary, which Stoker does not read", field.name);
  }
  const auto number = table.number<std::uint8_t>(kFieldTypeNumber);
  const ArrowType* known = nullptr;
  for (const ArrowType& type : kArrowTypes) {
    if (type.number == number) known = &type;
  }
  if (!known) {
    fail(ErrorKind::kData,
         "its column '{}' is of type {} of Arrow; Stoker reads numbers, texts, bytes, lists and structs", field.name,
         number);
  }
  field.kind = known->kind;
  field.width = known->offset_bytes;
  const std::optional<FlatTable> type = table.table(kFieldType);
  if (field.is_number()) {
    if (!type) fail(ErrorKind::kData, "its column '{}' does not say which numbers it has", field.name);
    set_number(*type, field);
  }
  field.children = fields_in(table, kFieldChildren, depth + 1, left);
  if (field.kind == ArrowKind::kList && field.children.size() != 1) {
    fail(ErrorKind::kData, "its column '{}' has lists of {} types", field.name, field.children.size());
  }
  return field;
}

std::vector<ArrowField> fields_in(const FlatTable& table, std::size_t slot, int depth, std::size_t& left) {
  std::vector<ArrowField> fields;
  for (const FlatTable& one : table.tables(slot, kArrowFieldsMax)) {
    if (left == 0 || depth > kArrowDepthMax) {
      fail(ErrorKind::kData, "it has more than {} columns, or some more than {} deep", kArrowFieldsMax, kArrowDepthMax);
    }
    --left;
    fields.push_back(arrow_field(one, depth, left));
  }
  return fields;
}

}  // namespace

std::vector<ArrowField> arrow_fields(const FlatTable& schema) {
  if (schema.number<std::int16_t>(kSchemaEndianness) != 0) {
    fail(ErrorKind::kData, "its numbers have their highest byte first, which Stoker does not read");
  }
  std::size_t left = kArrowFieldsMax;
  return fields_in(schema, kSchemaFields, 0, left);
}

}  // namespace stoker
