#include "stoker/format/arrow/arrow_schema.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/field_names.h"

namespace stoker {
namespace {

// Numbers of fields, by the schemas that Arrow publishes: format/Schema.fbs.
enum SchemaSlot : std::size_t { kSchemaEndianness = 0, kSchemaFields = 1, kSchemaNotes = 2 };
enum NoteSlot : std::size_t { kNoteName = 0, kNoteText = 1 };
enum FieldSlot : std::size_t {
  kFieldName = 0,
  kFieldTypeNumber = 2,
  kFieldType = 3,
  kFieldDictionary = 4,
  kFieldChildren = 5
};
enum IntSlot : std::size_t { kIntBits = 0, kIntIsSigned = 1 };
enum FloatSlot : std::size_t { kFloatPrecision = 0 };
enum DictionarySlot : std::size_t { kDictionaryNumber = 0, kDictionaryIndices = 1 };
enum DecimalSlot : std::size_t { kDecimalBits = 2 };
constexpr std::size_t kTimeBits = 1;   // of a time of the day
constexpr std::size_t kFixedSize = 0;  // of bytes and lists without offsets
constexpr std::size_t kUnit = 0;       // of dates and intervals
constexpr std::int16_t kUnitDay = 0, kUnitMillisecond = 1;

constexpr int kArrowDepthMax = 32;
constexpr std::size_t kArrowNotesMax = 4096;

// The numbers of types that are told apart by more than their kind.
constexpr std::uint8_t kDecimalType = 7, kDateType = 8, kTimeType = 9, kTimestampType = 10, kIntervalType = 11,
                       kFixedBytesType = 15, kFixedListType = 16, kDurationType = 18;

/// The kind of a type's number, and the width of its offsets.
struct ArrowType {
  std::uint8_t number;
  ArrowKind kind;
  std::uint32_t offset_bytes = 0;
  bool is_view = false;
};

constexpr ArrowType kArrowTypes[] = {{1, ArrowKind::kNull},
                                     {2, ArrowKind::kInteger},
                                     {3, ArrowKind::kFloat},
                                     {4, ArrowKind::kBytes, 4},
                                     {5, ArrowKind::kText, 4},
                                     {6, ArrowKind::kTruth},
                                     {kDecimalType, ArrowKind::kOther},
                                     {kDateType, ArrowKind::kInteger},
                                     {kTimeType, ArrowKind::kInteger},
                                     {kTimestampType, ArrowKind::kInteger},
                                     {kIntervalType, ArrowKind::kOther},
                                     {12, ArrowKind::kList, 4},
                                     {13, ArrowKind::kStruct},
                                     {kFixedBytesType, ArrowKind::kBytes},
                                     {kFixedListType, ArrowKind::kList},
                                     {17, ArrowKind::kList, 4},  // a map: of structs
                                     {kDurationType, ArrowKind::kInteger},
                                     {19, ArrowKind::kBytes, 8},
                                     {20, ArrowKind::kText, 8},
                                     {21, ArrowKind::kList, 8},
                                     {23, ArrowKind::kBytes, 0, true},
                                     {24, ArrowKind::kText, 0, true}};

void set_integer(ArrowField& field, std::int32_t bits, bool is_signed) {
  switch (bits) {
    case 8: field.ending = is_signed ? "i8" : "u8"; break;
    case 16: field.ending = is_signed ? "i16" : "u16"; break;
    case 32: field.ending = is_signed ? "i32" : "u32"; break;
    case 64: field.ending = is_signed ? "i64" : "u64"; break;
    default: fail(ErrorKind::kData, "its column '{}' has integers of {} bits", field.name, bits);
  }
  field.width = static_cast<std::uint32_t>(bits) / 8;
}

void set_float(const FlatTable& type, ArrowField& field) {
  const auto precision = type.number<std::int16_t>(kFloatPrecision);
  if (precision < 0 || precision > 2) fail(ErrorKind::kData, "its column '{}' has an unknown precision", field.name);
  field.width = 2U << precision;
  field.ending = precision == 0 ? "f16" : precision == 1 ? "f32" : "f64";
}

/// What each row has of bytes, bits or values: `at_least` so many.
std::uint32_t fixed_size(const FlatTable& type, std::size_t slot, std::int32_t absent, const ArrowField& field,
                         std::int32_t at_least) {
  const auto size = type.number<std::int32_t>(slot, absent);
  if (size < at_least) fail(ErrorKind::kData, "its column '{}' has rows of {}", field.name, size);
  return static_cast<std::uint32_t>(size);
}

/// What its type says besides the kind. Dates and times are the integers that they are stored as.
void set_type(std::uint8_t number, const FlatTable& type, ArrowField& field) {
  switch (number) {
    case kDecimalType: field.width = fixed_size(type, kDecimalBits, 128, field, 8) / 8; return;
    case kDateType:
      return set_integer(field, type.number<std::int16_t>(kUnit, kUnitMillisecond) == kUnitDay ? 32 : 64, true);
    case kTimeType: return set_integer(field, type.number<std::int32_t>(kTimeBits, 32), true);
    case kTimestampType:
    case kDurationType: return set_integer(field, 64, true);
    case kIntervalType: {
      constexpr std::uint32_t kBytes[] = {4, 8, 16};  // months; days and milliseconds; months, days and nanoseconds
      const auto unit = type.number<std::int16_t>(kUnit);
      if (unit < 0 || unit > 2) fail(ErrorKind::kData, "its column '{}' has unknown intervals", field.name);
      field.width = kBytes[unit];
      return;
    }
    case kFixedBytesType:
    case kFixedListType: field.fixed = fixed_size(type, kFixedSize, 0, field, 0); return;
    default: break;
  }
  if (field.kind == ArrowKind::kFloat) set_float(type, field);
  if (field.kind == ArrowKind::kInteger) {
    set_integer(field, type.number<std::int32_t>(kIntBits), type.number<std::uint8_t>(kIntIsSigned) != 0);
  }
}

void set_dictionary(const FlatTable& dictionary, ArrowField& field) {
  field.dictionary = dictionary.number<std::int64_t>(kDictionaryNumber);
  ArrowField index{.name = field.name};
  const std::optional<FlatTable> type = dictionary.table(kDictionaryIndices);
  set_integer(index, type ? type->number<std::int32_t>(kIntBits) : 32, true);
  field.index_width = index.width;
}

std::vector<ArrowField> fields_in(const FlatTable& table, std::size_t slot, int depth, std::size_t& left);

ArrowField arrow_field(const FlatTable& table, int depth, std::size_t& left) {
  check_name(table.text(kFieldName));
  ArrowField field{.name = std::string(table.text(kFieldName))};
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
  field.is_view = known->is_view;
  const std::optional<FlatTable> type = table.table(kFieldType);
  if (type) set_type(number, *type, field);
  if ((field.is_number() || field.kind == ArrowKind::kOther) && field.width == 0) {
    fail(ErrorKind::kData, "its column '{}' does not say which numbers it has", field.name);
  }
  field.children = fields_in(table, kFieldChildren, depth + 1, left);
  if (field.kind == ArrowKind::kList && field.children.size() != 1) {
    fail(ErrorKind::kData, "its column '{}' has lists of {} types", field.name, field.children.size());
  }
  if (const std::optional<FlatTable> dictionary = table.table(kFieldDictionary)) {
    if (field.kind == ArrowKind::kList || field.kind == ArrowKind::kStruct) {
      fail(ErrorKind::kData, "its column '{}' has a dictionary of lists or structs, which Stoker does not read",
           field.name);
    }
    set_dictionary(*dictionary, field);
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

std::string arrow_note(const FlatTable& schema, std::string_view name) {
  for (const FlatTable& note : schema.tables(kSchemaNotes, kArrowNotesMax)) {
    if (note.text(kNoteName) == name) return std::string(note.text(kNoteText));
  }
  return {};
}

}  // namespace stoker
