// Where the rows of a dataset lie, the steps along its first axis: as one range of the file, or in chunks that have
// whole rows, plain or compressed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/format/hdf5/hdf5_chunks.h"
#include "stoker/storage/block_source.h"

namespace stoker {

/// Rows that were stored together, one after another.
struct Hdf5Piece {
  std::uint64_t first = 0, rows = 0;
  std::uint64_t offset = 0, stored_bytes = 0;  // in the source
  std::uint64_t bytes = 0;                     // decompressed; a chunk may have more than its rows
  BlockCodec codec = BlockCodec::kStored;
  std::uint64_t shuffled_bytes = 1;  // of a value

  bool is_plain() const { return codec == BlockCodec::kStored && shuffled_bytes == 1; }
};

/// Why rows of the dataset cannot be read one by one, as a clause with what helps ("was compressed by Blosc; ...");
/// nothing if they can, unless the file is damaged.
std::optional<std::string> why_no_hdf5_rows(const Hdf5Dataset& dataset);

/// Of a dataset whose rows can be read. Throws kData, naming the dataset, if the file is damaged, or lacks rows.
std::vector<Hdf5Piece> hdf5_pieces(Hdf5File& file, const Hdf5Dataset& dataset);

/// Bytes of a row; 0 if that cannot be. Every dataset has rows of at least one.
std::uint64_t hdf5_row_bytes(const Hdf5Dataset& dataset);

/// Rows that are where a read finds them.
struct Hdf5Run {
  std::uint64_t first = 0, rows = 0;
  std::uint64_t place = 0;  // of the first: in the file, or where a block appears to lie
};

/// Places the compressed pieces. Throws kData for values that were shuffled in a way that no codec has.
std::vector<Hdf5Run> place_hdf5_rows(const Hdf5Dataset& dataset, const std::vector<Hdf5Piece>& pieces,
                                     BlockPlaces& places);

/// The values of rows, read one after another. Threads: one.
class Hdf5RowReader {
 public:
  /// The source and the name must outlive it.
  Hdf5RowReader(Source& source, std::string_view dataset, std::vector<Hdf5Piece> pieces, std::uint64_t row_bytes)
      : source_(source), dataset_(dataset), pieces_(std::move(pieces)), row_bytes_(row_bytes) {}

  /// The bytes of a row, which must be one of the dataset's and not lie before that of the last call; they stay until
  /// the next call. Throws kData naming the dataset if they cannot be decompressed.
  Bytes row(std::uint64_t number);
  /// What it holds at most.
  std::uint64_t bytes_max() const;

 private:
  void read_piece(const Hdf5Piece& piece);
  void read_some(const Hdf5Piece& piece, std::uint64_t number);

  Source& source_;
  std::string_view dataset_;
  std::vector<Hdf5Piece> pieces_;
  std::uint64_t row_bytes_;
  std::size_t piece_ = 0;
  std::uint64_t first_ = 0;  // of the rows that are held
  std::vector<std::uint8_t> held_;
};

}  // namespace stoker
