// Lists that point to image files: tables (CSV, TSV), lines or a list of JSON objects, and COCO's annotations.
// docs/formats.md says what becomes of which column. A text file of paths without a heading is not one: it stands for
// what its lines name.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "stoker/format/shard_format.h"

namespace stoker {

class ListFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "list"; }
  /// By the first line, or the first character of JSON.
  bool recognises(const ShardCandidate& shard) const override;
  /// Not one file: it has no index, and is read each time that it is opened.
  bool is_one_file() const override { return false; }
  std::shared_ptr<Source> open(const Store& store, const Location& list) const override;
  /// Of a source that open() gave. Throws kData naming the list and the line when the list is damaged, or if none of
  /// the files that it names is there; some that are not there are told of (ShardNotes::problems).
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
};

}  // namespace stoker
