// The values of a LitData sample: what each serializer wrote, told as fields of a row.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "stoker/format/field_names.h"
#include "stoker/format/litdata/litdata_list.h"
#include "stoker/format/value_row.h"
#include "stoker/storage/block_source.h"

namespace stoker {

/// Threads: one.
class LitDataValues {
 public:
  /// More pictures than a chunk may have as pixels: each has an entry of its own in the table of places.
  static constexpr std::uint32_t kPicturesMax = 1 << 20;

  /// Both must outlive it. Pixels get places there, each with a header before them.
  LitDataValues(const LitDataList& list, BlockPlaces& places) : list_(list), places_(places) {}

  /// The values of an item whose bytes appear to lie at `offset`. Throws kData, as a clause, for one that is damaged,
  /// and as FieldNames does. What is returned shows the list's bytes and the item's, until the next call.
  const std::vector<RowValue>& split(Bytes item, std::uint64_t offset);
  /// The names of lists and dictionaries that were passed over so far, since they have too many values.
  const std::set<std::string, std::less<>>& passed_over() const { return passed_over_; }

 private:
  void add(const LitDataLeaf& leaf, Bytes value);
  void add_array(const LitDataLeaf& leaf, Bytes value);
  void add_images(const LitDataLeaf& leaf, Bytes value);
  void add_pixels(const LitDataLeaf& leaf, Bytes value);
  void add_nested(const LitDataLeaf& leaf, Bytes value);
  bool add_picture(const LitDataLeaf& leaf, std::vector<std::uint64_t> shape, Bytes pixels);
  RowValue& push(std::string_view name, Bytes value, std::string_view ending = {});

  const LitDataList& list_;
  BlockPlaces& places_;
  Bytes item_;
  std::uint64_t offset_ = 0;    // of item_
  std::uint32_t pictures_ = 0;  // so far
  std::vector<RowValue> values_;
  FieldNames names_;  // that are not the leaves' own
  std::set<std::string, std::less<>> passed_over_;
  std::vector<Bytes> images_;  // scratch
};

}  // namespace stoker
