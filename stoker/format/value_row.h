// Rows of samples whose values have names that users chose, for formats that keep neither a key nor a label apart from
// the other values: which of them is the image, the label, the key. docs/formats.md has the names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/field_names.h"
#include "stoker/format/sample_row.h"
#include "stoker/format/usual_image.h"

namespace stoker {

/// A value, and where it lies in the row's source.
struct RowValue {
  std::string_view name{};  // as written; digits alone where values have places instead of names
  std::uint64_t offset = 0, length = 0;
  std::string_view ending{};  // of the field's name: "f32", or the extension of an image
  bool is_image = false;
  bool is_element = false;                 // of a list of images
  std::optional<std::string_view> text{};  // of a text: its bytes
  std::optional<std::int64_t> integer{};   // of an integer; -1 for one that is no label
};

/// Threads: one.
class ValueRows {
 public:
  ValueRows();
  /// The shard has a column of bytes of that name.
  void expect_image(std::string_view column) { usual_image_.expect(column); }
  /// Replaces the row's label and fields, and its key where a value is one. `whole`: the field of a sample that has
  /// nothing but its label. `label`: the value with the integer that is the label, empty for none; without it, the
  /// value is looked for by its name. Throws kData, as a clause, if two values have one field, and as FieldNames does.
  /// What the row's fields show lives as long as this object.
  void fill(SampleRow& row, std::span<const RowValue> values, const RowValue& whole,
            std::optional<std::string_view> label = std::nullopt);

 private:
  void choose_image(std::span<const RowValue> values);
  std::string field_name(const RowValue& value) const;

  UsualImage usual_image_;
  UsualImage::Choice choice_;                    // of the row at hand
  const RowValue* image_ = nullptr;              // of the row at hand
  std::vector<UsualImage::Value> image_values_;  // scratch
  FieldNames names_;
};

}  // namespace stoker
