// HDF5 files whose datasets have a row for each sample, as h5py writes them: arrays by row, and values of any length.
// Values are located where they lie: in the file, or in its compressed chunks. The parser is Stoker's own
// (docs/decisions/0027); docs/formats.md says what becomes of which dataset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/hdf5/hdf5_heap.h"
#include "stoker/format/hdf5/hdf5_rows.h"
#include "stoker/format/shard_format.h"
#include "stoker/format/usual_image.h"
#include "stoker/storage/block_source.h"

namespace stoker {

class Hdf5Format final : public ShardFormat {
 public:
  std::string_view name() const override { return "hdf5"; }
  /// By its first bytes, or its name.
  bool recognises(const ShardCandidate& shard) const override;
  bool is_shard_name(std::string_view name) const override;
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
};

/// The samples of an HDF5 file one by one.
class Hdf5Samples final : public ShardScan {
 public:
  /// What the datasets that a scan reads may take of memory.
  static constexpr std::uint64_t kRowsBytesMax = std::uint64_t{3} << 30;

  /// Finds the datasets and their chunks. The source must outlive it. Throws as next() does.
  explicit Hdf5Samples(Source& source, std::stop_token stop = {}, Hdf5Checksums checksums = Hdf5Checksums::kChecked);

  /// Replaces `row` by the next sample; false after the last. Throws kData naming the file, and the dataset if it is
  /// one's fault, when it is damaged or truncated, or written in a way that Stoker does not read; kLimit for a file
  /// that needs too much memory; kClosed when asked to stop. The row's views live as long as this object.
  bool next(SampleRow& row) override;
  ShardNotes take_notes() override;

 private:
  /// A dataset, and what becomes of it.
  struct Column {
    enum class Use {
      kArray,    // its rows get the header of an array
      kNumber,   // its rows are one number each, which stand by themselves
      kBytes,    // of one length, apart from what fills them up
      kVarying,  // in the heap
    };

    Hdf5Dataset dataset{};
    Use use = Use::kArray;
    std::string name{};  // in lower case, of its fields
    bool is_label = false, is_key = false;
    std::vector<Hdf5Run> runs{};  // where rows are, with their heads if they are arrays
    std::size_t run = 0;          // that has the row at hand
    std::uint64_t row_bytes = 0;  // of a field
    std::unique_ptr<Hdf5RowReader> reader{};

    // Of the row at hand, if it is bytes:
    std::uint64_t offset = 0, length = 0;
    std::string_view extension{};  // that its first bytes ask for

    bool has_bytes() const { return use == Use::kBytes || use == Use::kVarying; }
    bool can_be_image_array() const;
    /// Whether it says the key and nothing else.
    bool is_inner_key() const;
  };

  std::vector<Hdf5Dataset> find_datasets();
  void collect(std::uint64_t address, std::string path, int depth);
  void choose_rows(std::vector<Hdf5Dataset> datasets);
  void add_column(Hdf5Dataset dataset);
  void choose_label();
  void name_columns();
  void place_columns();
  void place_arrays(Column& column, const std::vector<Hdf5Piece>& pieces);
  void skip(const Hdf5Dataset& dataset, std::string_view why);

  void read_row(Column& column);
  void set_key(SampleRow& row);
  void set_label(SampleRow& row);
  void choose_image();
  void add_field(SampleRow& row, const Column& column);
  void require_different_names(const SampleRow& row) const;
  template <typename Fits>
  Column* find(const std::vector<std::string_view>& names, const Fits& fits);

  /// Datasets of one group.
  struct GroupOfDatasets {
    std::string path{};
    std::vector<Hdf5Dataset> datasets{};
  };

  Source& source_;
  std::stop_token stop_;
  const std::string key_prefix_;
  Hdf5File file_;
  Hdf5Heap heap_;
  BlockPlaces places_;
  std::vector<GroupOfDatasets> groups_;
  std::vector<std::uint64_t> seen_;  // addresses of groups
  std::uint64_t members_seen_ = 0;   // of these
  std::vector<Column> columns_;
  std::uint64_t rows_ = 0, next_ = 0;
  UsualImage usual_image_;
  UsualImage::Choice image_;                     // of the row at hand, by column
  std::vector<UsualImage::Value> image_values_;  // scratch
  std::set<std::string, std::less<>> names_;     // of fields: rows have views of them
  std::string name_;                             // scratch
  std::vector<std::size_t> named_by_bytes_;      // fields of the row at hand
  ShardNotes notes_;
};

}  // namespace stoker
