// The rows of a shard in memory, as columns so that millions of samples stay small: for a folder, of which only the
// listing is known, and for a shard without an index.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/sample_stream.h"
#include "stoker/format/shard_rows.h"

namespace stoker {

/// Where one field of one sample lies, as the table stores it.
struct FieldLocation {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t part_begin = 0;  // in the table's text; see SampleTable::part
  std::uint16_t part_length = 0;
  std::uint16_t name = 0;   // which of the table's field names
  std::uint32_t crc32 = 0;  // of a table whose fields all have one
};

class SampleTable final : public ShardRows {
 public:
  std::int64_t size() const override { return static_cast<std::int64_t>(key_begin_.size()); }
  void read(std::int64_t row, SampleRow& into) const override;
  Fingerprint fingerprint() const override;
  std::uint64_t bytes() const override;

  std::string_view key(std::int64_t sample) const;
  std::int64_t label(std::int64_t sample) const { return labels_[static_cast<std::size_t>(sample)]; }
  std::span<const FieldLocation> fields(std::int64_t sample) const;
  std::string_view part(const FieldLocation& field) const;
  const std::vector<std::string>& field_names() const override { return field_names_; }

  /// Building: a sample with its fields.
  void add(const SampleRow& row);
  /// Or a sample, then its fields. `label` is -1 when unknown.
  void add_sample(std::string_view key, std::int64_t label);
  /// To the sample added last.
  void add_field(std::string_view name, std::string_view part, std::uint64_t offset, std::uint64_t length);
  /// Gives back the memory that was set aside for further rows.
  void shrink_to_fit();

 private:
  std::uint16_t name_number(std::string_view name);

  std::string text_;  // keys and parts, back to back; a part may begin with its sample's key and share its bytes
  std::vector<std::uint64_t> key_begin_;
  std::vector<std::uint32_t> key_length_;
  std::vector<std::int64_t> labels_;
  std::vector<std::uint64_t> first_field_;  // one per sample
  std::vector<FieldLocation> fields_;
  std::vector<std::string> field_names_;
  std::size_t with_crc32_ = 0;  // how many fields have one
};

/// All samples of a stream. Throws what it throws.
SampleTable table_of(SampleStream& samples);

}  // namespace stoker
