// Tables of Arrow in files of their own: what Hugging Face's `datasets` keeps in its cache and saves to disk, Feather,
// and streams of the IPC format. docs/formats.md says what becomes of which column.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/arrow/arrow_rows.h"
#include "stoker/format/shard_format.h"
#include "stoker/format/value_row.h"
#include "stoker/storage/block_source.h"

namespace stoker {

class ArrowFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "arrow"; }
  /// "x.arrow", "x.feather"; else by the first bytes.
  bool recognises(const ShardCandidate& shard) const override;
  bool is_shard_name(std::string_view name) const override;
  bool is_list_name(std::string_view name) const override;
  std::vector<Location> listed_shards(const Stores& stores, const Location& folder) const override;
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
};

/// The rows of a table one by one.
class ArrowSamples final : public ShardScan {
 public:
  /// The source must outlive it.
  explicit ArrowSamples(Source& source, std::stop_token stop = {});

  /// Throws kData naming the file, and the row if it has two values for one field, when it is damaged or truncated;
  /// kClosed when asked to stop. The row's views live as long as this object.
  bool next(SampleRow& row) override;
  ShardNotes take_notes() override;

 private:
  void open();

  Source& source_;
  std::stop_token stop_;
  std::string key_prefix_;
  BlockPlaces places_;
  std::optional<ArrowRows> table_;
  std::string label_;  // the column of labels; empty without one
  std::vector<std::string> classes_;
  ValueRows rows_;
};

}  // namespace stoker
