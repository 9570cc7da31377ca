// What becomes of a sample of an MDS shard: its key, its label, and fields with the names that tars would give them.
// docs/formats.md has the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/field_names.h"
#include "stoker/format/mds/mds_columns.h"
#include "stoker/format/sample_row.h"
#include "stoker/format/usual_image.h"

namespace stoker {

/// The usual name of the column of keys, in lower case.
inline constexpr std::string_view kMdsKeyColumn = "__key__";

/// Where a sample lies.
struct MdsSamplePlace {
  std::uint64_t offset = 0;  // in its source
  std::int64_t number = 0;   // in the shard, from 0
};

/// Threads: one.
class MdsRows {
 public:
  /// `file`: whose name begins the keys of samples without one.
  MdsRows(std::vector<MdsColumn> columns, std::string_view file);

  const std::vector<MdsColumn>& columns() const { return columns_; }
  /// Fills `row`, which is clear, except for its source. Throws kData, as a clause that says what is wrong, for bytes
  /// that are not a sample of these columns, or have two values for one field, and as FieldNames does. The row's views
  /// live as long as this object.
  void read(Bytes sample, const MdsSamplePlace& place, SampleRow& row);

 private:
  /// A value of the sample at hand.
  struct Value {
    Bytes bytes;
    std::string_view extension;  // of an image; empty for all else
  };

  void split_values();
  void set_key(SampleRow& row);
  void set_label(SampleRow& row);
  UsualImage::Choice image();
  void add_column(SampleRow& row, std::size_t i);
  void add_images(SampleRow& row, const MdsColumn& column, Bytes bytes);
  void add_array(SampleRow& row, const MdsColumn& column, Bytes bytes);
  void add_field(SampleRow& row, Bytes value);

  const std::vector<MdsColumn> columns_;
  const std::string key_prefix_;
  FieldNames names_;
  std::string name_;  // scratch

  MdsSamplePlace place_;  // of the sample at hand
  Bytes sample_;
  std::vector<Value> values_;         // by column
  std::optional<std::size_t> label_;  // the column that became the row's label
  UsualImage usual_image_;
  UsualImage::Choice image_;  // of the sample at hand, by column
  // Scratch:
  std::vector<UsualImage::Value> image_values_;
  std::vector<Bytes> images_;
};

}  // namespace stoker
