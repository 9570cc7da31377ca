// The samples of one task of a planned pack, as the plan has them. Of shards and lists it has the samples' numbers in
// the data and their class numbers; of folders of loose files, which a task would else have to list all, everything
// that a row says: such a file is one field.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/format/fingerprint.h"
#include "stoker/format/sample_stream.h"

namespace stoker {

/// What is the same for all rows of a plan. Threads: any, once it is filled in.
struct PlannedData {
  std::vector<std::string> field_names;          // by number
  std::string image;                             // the chosen field; empty: none was chosen
  const Dataset* samples = nullptr;              // of shards and lists; null where rows are frozen whole
  std::vector<std::shared_ptr<Source>> sources;  // of loose files, by number
};

/// Freezes rows one after the other.
class RowFreezer {
 public:
  /// `data` must outlive it; it gets the names of fields.
  RowFreezer(PlannedData& data, bool whole) : data_(data), whole_(whole) {}

  /// `number`: the sample's in the data. `label`: its class number in the pack. `source`: of a row that is frozen
  /// whole.
  void add(const SampleRow& row, std::int64_t number, std::int64_t label, std::size_t source);
  /// Of all rows since the last call.
  std::string take();

 private:
  std::uint32_t number_of(std::string_view field);

  PlannedData& data_;
  const bool whole_;
  std::string bytes_;
};

/// Threads: one at a time.
class PlannedRows final : public SampleStream {
 public:
  /// Both must outlive it. Throws kData where the rows are damaged.
  PlannedRows(const PlannedData& data, const std::string& frozen);

  bool next(SampleRow& row) override;

  /// Of all rows, by their numbers in the data.
  const std::vector<std::int64_t>& numbers() const { return numbers_; }
  /// Of the rows so far, with the class numbers of the pack: to be compared with that of the plan.
  const Fingerprint& fingerprint() const { return fingerprint_; }

 private:
  void read_message(std::string_view message, SampleRow& row) const;
  void read_field(std::string_view message, SampleField& field) const;

  const PlannedData& data_;
  std::vector<std::string_view> messages_;
  std::vector<std::int64_t> numbers_;
  std::size_t next_ = 0;
  Fingerprint fingerprint_;
};

}  // namespace stoker
