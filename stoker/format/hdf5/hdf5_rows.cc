#include "stoker/format/hdf5/hdf5_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::uint64_t kReadBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kFletcherBytes = 4;

/// What a dataset's filters do, as far as Stoker undoes it: shuffle, then compress, then add a checksum. Each has its
/// place in the list, by which the mask of a chunk names it.
struct KnownFilters {
  std::optional<std::size_t> shuffle{}, compress{}, checksum{};
  BlockCodec codec = BlockCodec::kStored;
};

std::optional<KnownFilters> known_filters(const Hdf5Dataset& dataset, std::string& unknown) {
  KnownFilters known;
  for (std::size_t i = 0; i < dataset.filters.size(); ++i) {
    const Hdf5Filter& filter = dataset.filters[i];
    const bool is_first = !known.compress && !known.checksum;
    const bool compresses = filter.number == Hdf5Filter::kDeflate || filter.number == Hdf5Filter::kLzf;
    if (filter.number == Hdf5Filter::kShuffle && is_first && !known.shuffle) {
      known.shuffle = i;
    } else if (compresses && is_first) {
      known.compress = i;
      known.codec = filter.number == Hdf5Filter::kDeflate ? BlockCodec::kZlib : BlockCodec::kLzf;
    } else if (filter.number == Hdf5Filter::kFletcher32 && !known.checksum) {
      known.checksum = i;
    } else {
      const bool is_usual =
          compresses || filter.number == Hdf5Filter::kShuffle || filter.number == Hdf5Filter::kFletcher32;
      unknown = is_usual ? "went through its filters in an unusual order"
                         : fmt::format("went through the filter {}", filter.name);
      return std::nullopt;
    }
  }
  return known;
}

std::string repack_chunks(const Hdf5Dataset& dataset) {
  std::vector<std::uint64_t> chunk = dataset.shape;
  chunk.front() = 1;
  return fmt::format("`h5repack -l {}:CHUNK={} OLD NEW` helps", dataset.name, fmt::join(chunk, "x"));
}

std::vector<Hdf5Piece> pieces_in_chunks(Hdf5File& file, const Hdf5Dataset& dataset, std::uint64_t row_bytes) {
  std::string unknown;
  const KnownFilters filters = known_filters(dataset, unknown).value_or(KnownFilters{});
  const std::uint64_t per_chunk = dataset.layout.chunk.front(), rows = dataset.rows();
  const std::uint64_t chunk_bytes = per_chunk * row_bytes;
  std::vector<Hdf5Piece> pieces;
  std::uint64_t first = 0;
  for (const Hdf5Chunk& chunk : read_hdf5_chunks(file, dataset, chunk_bytes)) {
    const std::uint64_t here = std::min(per_chunk, rows - first);
    if (chunk.address == kHdf5Nowhere) {
      fail(ErrorKind::kData, "'{}': rows {} to {} of dataset '{}' were never written", file.name(), first,
           first + here - 1, dataset.name);
    }
    const auto went_through = [&](const std::optional<std::size_t>& filter) {
      return filter && (*filter > 31 || (chunk.mask >> *filter & 1) == 0);
    };
    Hdf5Piece piece{.first = first, .rows = here, .stored_bytes = chunk.bytes, .bytes = chunk_bytes};
    piece.offset = file.place(chunk.address, chunk.bytes, "a chunk of a dataset");
    if (went_through(filters.checksum)) piece.stored_bytes -= std::min(piece.stored_bytes, kFletcherBytes);
    if (went_through(filters.compress)) piece.codec = filters.codec;
    if (went_through(filters.shuffle)) piece.shuffled_bytes = dataset.type.size;
    if (piece.codec == BlockCodec::kStored && piece.stored_bytes != chunk_bytes) {
      fail(ErrorKind::kData, "'{}' is damaged: a chunk of dataset '{}' at byte {} has {}, and not {}", file.name(),
           dataset.name, piece.offset, byte_count(piece.stored_bytes), byte_count(chunk_bytes));
    }
    if (piece.bytes / expansion_max(piece.codec) > piece.stored_bytes) {
      fail(ErrorKind::kData, "'{}' is damaged: a chunk of dataset '{}' at byte {} has {}, which cannot become {}",
           file.name(), dataset.name, piece.offset, byte_count(piece.stored_bytes), byte_count(chunk_bytes));
    }
    first += here;
    if (piece.is_plain() && !pieces.empty()) {
      Hdf5Piece& last = pieces.back();
      if (last.is_plain() && last.offset + last.bytes == piece.offset) {
        last.rows += here;
        last.bytes += chunk_bytes;
        last.stored_bytes += chunk_bytes;
        continue;
      }
    }
    pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace

std::uint64_t hdf5_row_bytes(const Hdf5Dataset& dataset) {
  const std::uint64_t elements = dataset.row_elements();
  return elements > INT64_MAX / dataset.type.size ? 0 : elements * dataset.type.size;
}

std::optional<std::string> why_no_hdf5_rows(const Hdf5Dataset& dataset) {
  if (!dataset.layout.unsupported.empty()) return dataset.layout.unsupported + "; `h5repack OLD NEW` helps";
  if (dataset.row_elements() == 0 && dataset.rows() > 0) return "has rows without elements";
  if (!dataset.layout.is_chunked) return std::nullopt;
  std::string unknown;
  if (!known_filters(dataset, unknown)) {
    return fmt::format("{}, which Stoker does not undo; `h5repack -f {}:GZIP=1 OLD NEW` helps", unknown, dataset.name);
  }
  if (dataset.layout.leaves_last_unfiltered && !dataset.filters.empty()) {
    return "has a last chunk without filters; `h5repack OLD NEW` helps";
  }
  for (std::size_t axis = 1; axis < dataset.shape.size(); ++axis) {
    if (dataset.layout.chunk[axis] == dataset.shape[axis]) continue;
    return fmt::format("is stored in chunks of {}, which are not of whole rows, of {}; {}",
                       fmt::join(dataset.layout.chunk, " x "),
                       fmt::join(dataset.shape.begin() + 1, dataset.shape.end(), " x "), repack_chunks(dataset));
  }
  const std::uint64_t row_bytes = hdf5_row_bytes(dataset);
  if (row_bytes > 0 && dataset.layout.chunk.front() > kBlockBytesMax / row_bytes) {
    return fmt::format("is stored in chunks above {}; {}", byte_count(kBlockBytesMax), repack_chunks(dataset));
  }
  return std::nullopt;
}

std::vector<Hdf5Piece> hdf5_pieces(Hdf5File& file, const Hdf5Dataset& dataset) {
  const std::uint64_t rows = dataset.rows(), row_bytes = hdf5_row_bytes(dataset);
  if (rows == 0) return {};
  if (row_bytes == 0) fail(ErrorKind::kData, "'{}' is damaged: a row of '{}' has no size", file.name(), dataset.name);
  if (dataset.layout.is_chunked) return pieces_in_chunks(file, dataset, row_bytes);
  const Hdf5Layout& layout = dataset.layout;
  if (dataset.was_never_written()) {
    fail(ErrorKind::kData, "'{}': dataset '{}' was never written", file.name(), dataset.name);
  }
  if (rows > layout.bytes / row_bytes) {
    fail(ErrorKind::kData, "'{}' is damaged: dataset '{}' has {}, too few for {} of {}", file.name(), dataset.name,
         byte_count(layout.bytes), counted(rows, "row"), byte_count(row_bytes));
  }
  const std::uint64_t bytes = rows * row_bytes;
  return {{.first = 0,
           .rows = rows,
           .offset = file.place(layout.address, bytes, "a dataset"),
           .stored_bytes = bytes,
           .bytes = bytes}};
}

std::vector<Hdf5Run> place_hdf5_rows(const Hdf5Dataset& dataset, const std::vector<Hdf5Piece>& pieces,
                                     BlockPlaces& places) {
  std::vector<Hdf5Run> runs;
  for (const Hdf5Piece& piece : pieces) {
    Hdf5Run run{.first = piece.first, .rows = piece.rows, .place = piece.offset};
    if (!piece.is_plain()) {
      const std::optional<BlockCodec> codec = shuffled_codec(piece.codec, piece.shuffled_bytes);
      if (!codec) {
        fail(ErrorKind::kData,
             "'{}': dataset '{}' was shuffled as values of {}, which Stoker does not undo; `h5repack -f {}:GZIP=1 OLD "
             "NEW` helps",
             places.name(), dataset.name, byte_count(piece.shuffled_bytes), dataset.name);
      }
      run.place = places.add(
          {.offset = piece.offset, .stored_length = piece.stored_bytes, .length = piece.bytes, .codec = *codec});
    }
    runs.push_back(run);
  }
  return runs;
}

std::uint64_t Hdf5RowReader::bytes_max() const {
  std::uint64_t most = 0;
  for (const Hdf5Piece& piece : pieces_) {
    most = std::max(most, piece.is_plain() ? std::max(kReadBytes, row_bytes_) : piece.bytes + piece.stored_bytes);
  }
  return most;
}

Bytes Hdf5RowReader::row(std::uint64_t number) {
  while (number >= pieces_[piece_].first + pieces_[piece_].rows) {
    ++piece_;
    held_.clear();
  }
  const Hdf5Piece& piece = pieces_[piece_];
  if (held_.empty() || (number - first_ + 1) * row_bytes_ > held_.size()) {
    piece.is_plain() ? read_some(piece, number) : read_piece(piece);
  }
  return Bytes(held_).subspan(static_cast<std::size_t>((number - first_) * row_bytes_),
                              static_cast<std::size_t>(row_bytes_));
}

void Hdf5RowReader::read_some(const Hdf5Piece& piece, std::uint64_t number) {
  const std::uint64_t left = piece.first + piece.rows - number;
  const std::uint64_t count = std::clamp<std::uint64_t>(kReadBytes / row_bytes_, 1, left);
  held_.resize(static_cast<std::size_t>(count * row_bytes_));
  first_ = number;
  read_fully(source_, piece.offset + (number - piece.first) * row_bytes_, held_);
}

void Hdf5RowReader::read_piece(const Hdf5Piece& piece) {
  std::vector<std::uint8_t> stored(static_cast<std::size_t>(piece.stored_bytes));
  read_fully(source_, piece.offset, stored);
  try {
    held_ = decompressed(piece.codec, stored, piece.bytes);
  } catch (const Error& error) {
    held_.clear();
    fail(error.kind(), "'{}', dataset '{}': the chunk at byte {} cannot be read: {}", source_.name(), dataset_,
         piece.offset, error.message());
  }
  first_ = piece.first;
  if (piece.shuffled_bytes == 1) return;
  stored = std::exchange(held_, std::vector<std::uint8_t>(held_.size()));
  unshuffle(stored, static_cast<std::size_t>(piece.shuffled_bytes), held_);
}

}  // namespace stoker
