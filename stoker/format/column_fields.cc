#include "stoker/format/column_fields.h"

#include <algorithm>
#include <array>
#include <string>

#include "stoker/base/error.h"
#include "stoker/format/json_text.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

// Last extensions of fields that hold text by custom.
constexpr std::array<std::string_view, 10> kTextEndings = {"txt",  "text", "json", "caption", "label",
                                                           "html", "xml",  "csv",  "tsv",     "md"};

bool has_dot(std::string_view name) { return name.find('.') != std::string_view::npos; }

void require_column_name(const SampleRow& row, std::string_view name, std::string_view format) {
  if (name == kKeyColumn || name == kImageColumn || (name == kLabelColumn && row.label >= 0)) {
    fail(ErrorKind::kUsage, "it has a field '{}', which in {} is the column of {}; rename the field", name, format,
         name == kKeyColumn     ? "keys"
         : name == kImageColumn ? "images"
                                : "class numbers");
  }
  if (is_image_field_name(name) && !has_dot(name)) {
    fail(ErrorKind::kUsage,
         "besides its image it has a field '{}', which readers of {} would take for the image; name it 'other.{}', or "
         "choose another format",
         name, format, name);
  }
  if (name.empty() || name.find('/') != std::string_view::npos || !is_utf8(std::string(name))) {
    fail(ErrorKind::kUsage, "the name of its field '{}' cannot be that of a column of {}; rename the field", name,
         format);
  }
}

}  // namespace

void require_fits_columns(const SampleRow& row, std::string_view format) {
  if (row.key.empty()) fail(ErrorKind::kUsage, "it has no key, by which packs of {} tell samples apart", format);
  if (!is_utf8(row.key)) {
    fail(ErrorKind::kUsage, "its key is not UTF-8, and keys are text in {}; choose another format", format);
  }
  const SampleField* const image = row.image_field();
  if (image && has_dot(image->name)) {
    fail(ErrorKind::kUsage, "its image is named '{}', and in {} that name would be lost; choose another format",
         image->name, format);
  }
  for (const SampleField& field : row.fields) {
    if (&field != image && !is_class_number(row, field)) require_column_name(row, field.name, format);
  }
}

void require_all_fit_columns(const PackContents& contents, std::string_view format) {
  if (contents.has_labels() && contents.others().contains(kLabelColumn)) {
    fail(ErrorKind::kUsage,
         "some samples have a class number, and others a field '{}', which in {} is the column of class numbers; "
         "rename the field",
         kLabelColumn, format);
  }
}

bool is_text_field(std::string_view name) {
  const std::string_view ending = name.substr(name.rfind('.') + 1);
  return std::find(kTextEndings.begin(), kTextEndings.end(), ending) != kTextEndings.end();
}

void require_text(std::string_view field, Bytes bytes, std::string_view format) {
  if (is_utf8(std::string(as_text(bytes)))) return;
  fail(ErrorKind::kUsage,
       "its field '{}' is not UTF-8, and {} has fields of that name as text; rename the field, to '{}.bin' for example",
       field, format, field);
}

void become_read_row(SampleRow& row, const SampleRow& read, std::span<const std::uint64_t> offsets,
                     std::string_view format) {
  const SampleField* const image = row.image_field();
  const SampleField* const read_image = read.image_field();
  if (image && (!read_image || read_image->offset != offsets[static_cast<std::size_t>(image - row.fields.data())])) {
    fail(ErrorKind::kUsage,
         "its image '{}' would not be found by readers of {}, which tell images by their first bytes; choose another "
         "format, or pack with other pixels",
         image->name, format);
  }
  const auto written = std::count_if(row.fields.begin(), row.fields.end(),
                                     [&](const SampleField& field) { return !is_class_number(row, field); });
  if (read.key != row.key || read.label != row.label || static_cast<std::ptrdiff_t>(read.fields.size()) != written) {
    fail(ErrorKind::kUsage, "readers of {} would not find its key, class and all of its fields; rename the fields",
         format);
  }
  std::vector<SampleField> fields = read.fields;
  for (SampleField& field : fields) {
    std::size_t i = 0;
    while (i < offsets.size() && (offsets[i] != field.offset || row.fields[i].length != field.length)) ++i;
    if (i == offsets.size()) fail(ErrorKind::kUsage, "readers of {} would find no field '{}'", format, field.name);
    field.take_checksums_of(row.fields[i]);
    if (!has_chunk_crcs(field.name, field.length)) field.first_chunk = field.chunks = 0;
  }
  row.fields = std::move(fields);
}

}  // namespace stoker
