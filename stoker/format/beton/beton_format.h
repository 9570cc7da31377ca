// .beton files, as FFCV writes them: where every value lies is said in tables, which a scan reads instead of the
// values. docs/formats.md says what becomes of which field.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/beton/beton_header.h"
#include "stoker/format/sequential_reader.h"
#include "stoker/format/shard_format.h"
#include "stoker/format/value_row.h"
#include "stoker/storage/block_source.h"

namespace stoker {

class BetonFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "beton"; }
  /// "x.beton", else by the first bytes.
  bool recognises(const ShardCandidate& shard) const override;
  bool is_shard_name(std::string_view name) const override { return name.ends_with(".beton"); }
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
};

/// The samples of a file one by one.
class BetonSamples final : public ShardScan {
 public:
  /// More runs of pictures stored raw than a file may have: each has an entry in the table of places.
  static constexpr std::uint32_t kRunsMax = 1 << 20;

  /// The source must outlive it.
  explicit BetonSamples(Source& source, std::stop_token stop = {});

  /// Throws kData naming the file and the sample when it is damaged or truncated; kClosed when asked to stop. The row's
  /// views live as long as this object.
  bool next(SampleRow& row) override;
  ShardNotes take_notes() override;

 private:
  struct Allocation {
    std::uint64_t offset = 0, length = 0;
  };
  /// Pictures of one size that lie one after another.
  struct Run {
    std::uint64_t place = 0, row_bytes = 0;
    std::uint64_t first = 0, count = 0;  // samples
  };

  void open();
  void read_allocations();
  void split();
  void add_image(std::size_t number, const Allocation& at);
  void add_array(std::size_t number, const Allocation& at);
  void add_picture(std::size_t number, const Allocation& at, std::vector<std::uint64_t> shape);
  std::uint64_t count_run(const BetonField& field, const Allocation& at);

  Source& source_;
  std::stop_token stop_;
  BlockPlaces places_;
  std::string key_prefix_;
  std::optional<BetonHeader> header_;
  std::optional<SequentialReader> metadata_;
  std::vector<Allocation> allocations_;  // of all samples, those of a sample in the order of its fields
  std::vector<Run> runs_;                // by field
  std::uint32_t runs_made_ = 0;
  ValueRows rows_;

  std::uint64_t number_ = 0;             // of the sample at hand
  std::vector<std::uint8_t> of_sample_;  // its metadata
  std::vector<RowValue> values_;
};

}  // namespace stoker
