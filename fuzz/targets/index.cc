// A whole index: in a file of its own, or at the end of the tar that it describes.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "fuzz/fuzz_target.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/index/index_layout.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/index/shard_index.h"
#include "stoker/storage/block_source.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

constexpr std::size_t kTarEndBytes = 1024, kTarHeaderBytes = 512;
constexpr std::size_t kRowsPerBlockAt = 12, kDirectoryOffsetAt = 24, kDirectoryBytesAt = 32, kDirectoryHashAt = 40,
                      kDataBytesAt = 48, kContentTagAt = 56, kTrailerHashAt = 120;  // docs/format-index.md

/// A shard of zeros, of whatever length an index says: not its bytes matter here, but what is said of them.
class ZeroSource final : public Source {
 public:
  explicit ZeroSource(std::uint64_t bytes) : bytes_(bytes) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size(std::string_view) const override { return bytes_; }
  void start(ReadRequest& request) override {
    for (const MutableBytes part : request.into) {
      if (part.data() != nullptr) std::fill(part.begin(), part.end(), std::uint8_t{0});
    }
    request.error = nullptr;
    request.done(request);
  }

 private:
  std::string name_ = "zeros.tar";
  std::uint64_t bytes_;
};

bool ends_as_a_tar(Bytes input) {
  if (input.size() < kTarEndBytes + kIndexTrailerBytes) return false;
  const Bytes end = input.last(kTarEndBytes);
  return std::all_of(end.begin(), end.end(), [](std::uint8_t byte) { return byte == 0; });
}

/// The place of the index in the input, found as a data set finds it.
std::optional<IndexPlace> place_of(Bytes input) {
  const auto source = std::make_shared<MemorySource>("fuzzed", std::vector(input.begin(), input.end()));
  std::string why;
  std::optional<IndexPlace> place;
  if (ends_as_a_tar(input)) {
    accepts({ErrorKind::kData}, [&] { place = index_in_shard(source, why); });
  } else if (input.size() >= kIndexTrailerBytes) {
    IndexTrailer trailer;
    read_trailer(input.last(kIndexTrailerBytes), trailer);
    ZeroSource shard(trailer.data_bytes);
    accepts({ErrorKind::kData}, [&] { place = index_in_file(shard, source, why); });
  }
  require_that(!place || why.empty(), "an index that can be used is not complained of");
  if (place) {
    require_that(place->begin <= input.size() && place->trailer.index_bytes <= input.size() - place->begin,
                 "an index lies inside its file");
  }
  return place;
}

/// Reads fields of a shard of zeros as a data set does: some, and of those the beginnings, so that a run is short.
class FieldReader {
 public:
  explicit FieldReader(const ShardIndex& index)
      : blocks_(index.compressed_blocks()), source_(std::make_shared<ZeroSource>(index.trailer().data_bytes)) {
    if (!blocks_) return;
    source_ = std::make_shared<BlockSource>(source_, blocks_, std::make_shared<BlockCache>(kBlockMax));
  }

  void read(const SampleField& field) {
    if (left_ == 0 || !is_short(field.offset)) return;
    --left_;
    const MutableBytes into(room_.data(), std::min<std::uint64_t>(room_.size(), field.length));
    accepts({ErrorKind::kData}, [&] { read_fully(*source_, field.offset, into); });
  }

 private:
  static constexpr std::uint64_t kBlockMax = std::uint64_t{64} << 10;

  static bool is_short(const CompressedBlock& block) {
    return block.length <= kBlockMax && block.stored_length <= kBlockMax;
  }
  /// Of what becomes the bytes there.
  bool is_short(std::uint64_t offset) const {
    const std::optional<BlockPlace> place = blocks_ ? blocks_->find(offset) : std::nullopt;
    if (!place) return true;
    if (place->rows) return is_short(place->rows->offset);
    return place->length <= kBlockMax && is_short(place->block) && is_short(place->dictionary);
  }

  std::shared_ptr<const BlockTable> blocks_;
  std::shared_ptr<Source> source_;
  std::array<std::uint8_t, 4096> room_{};
  int left_ = 64;
};

void check_row(const SampleRow& row, const ShardIndex& index) {
  const auto& blocks = index.compressed_blocks();
  const std::uint64_t data_bytes = blocks ? blocks->end() : index.trailer().data_bytes;
  std::uint64_t bytes = 0;
  for (const SampleField& field : row.fields) {
    require_that(field.offset <= data_bytes && field.length <= data_bytes - field.offset,
                 "a field lies inside its shard");
    require_that(!__builtin_add_overflow(bytes, field.length, &bytes), "a sample's bytes can be counted");
    const auto& names = index.field_names();
    require_that(std::find(names.begin(), names.end(), field.name) != names.end(), "a field has one of the names");
  }
  require_that(row.bytes() == bytes, "a sample has the bytes of its fields");
}

void run(Bytes input) {
  const std::optional<IndexPlace> place = place_of(input);
  if (!place) return;
  std::unique_ptr<ShardIndex> index;
  const auto cache = std::make_shared<IndexCache>(std::size_t{1} << 20);
  if (!accepts({ErrorKind::kData}, [&] { index = std::make_unique<ShardIndex>(*place, cache); })) return;
  const bool sound = accepts({ErrorKind::kData}, [&] { index->check_all(); });

  SampleRow row;
  FieldReader reader(*index);
  const auto read_all = [&] {
    bool good = true;
    for (std::int64_t i = 0; i < index->size(); i += good ? 1 : kRowsPerBlock - i % kRowsPerBlock) {
      good = accepts({ErrorKind::kData}, [&] { index->read(i, row); });
      if (good) {
        check_row(row, *index);
        for (const SampleField& field : row.fields) reader.read(field);
      }
      require_that(good || !sound, "every row of an index that was found sound can be read");
    }
  };
  IndexFetch fetch;
  for (std::int64_t i = 0; i < index->size(); i += kRowsPerBlock) index->prepare(i, fetch);
  fetch.run();
  read_all();
}

// --- making the checksums right

/// Puts the hash of every block that lies inside the index into the directory.
void repair_directory(MutableBytes directory, Bytes index) {
  std::uint64_t end = kIndexMagic.size();
  for (std::size_t at = 4; at + 16 <= directory.size();) {
    const auto blocks = load_little_endian<std::uint64_t>(directory.data() + at + 8);
    at += 16;
    for (std::uint64_t block = 0; block < blocks && at + 24 <= directory.size(); ++block, at += 24) {
      std::uint8_t* place = directory.data() + at;
      const auto length = load_little_endian<std::uint64_t>(place + 8);
      if (end > index.size() || length > index.size() - end) return;
      store_little_endian(place, end);
      store_little_endian(place + 16, hash64(index.subspan(end, length)));
      end += length;
    }
  }
}

void repair(std::vector<std::uint8_t>& input) {
  const std::size_t tar_end = ends_as_a_tar(input) ? kTarEndBytes : 0;
  if (input.size() < tar_end + kIndexTrailerBytes) return;
  const std::size_t end = input.size() - tar_end;
  std::uint8_t* trailer = input.data() + end - kIndexTrailerBytes;
  const auto put = [trailer](std::size_t at, auto value) { store_little_endian(trailer + at, value); };
  const auto u64 = [trailer](std::size_t at) { return load_little_endian<std::uint64_t>(trailer + at); };

  std::copy(kIndexMagic.begin(), kIndexMagic.end(), trailer);
  put(8, kIndexVersion);
  put(kRowsPerBlockAt, static_cast<std::uint32_t>(kRowsPerBlock));
  std::uint64_t index_bytes = u64(16);
  if (tar_end == 0 && input.size() % kIndexUnit == 0) put(16, index_bytes = input.size());
  if (index_bytes > end || index_bytes < kIndexTrailerBytes) return;
  const MutableBytes index = MutableBytes(input).subspan(end - index_bytes, index_bytes);

  const std::uint64_t offset = u64(kDirectoryOffsetAt), length = u64(kDirectoryBytesAt);
  if (offset <= index.size() && length <= index.size() - offset) {
    repair_directory(index.subspan(offset, length), index.first(offset));
    put(kDirectoryHashAt, hash64(index.subspan(offset, length)));
  }
  if (tar_end == 0) {
    ZeroSource shard(u64(kDataBytesAt));
    put(kContentTagAt, content_tag(shard, shard.size({})));
  } else if (index_bytes + kTarHeaderBytes <= end) {
    MemorySource shard("fuzzed", input);
    const std::uint64_t data_bytes = end - index_bytes - kTarHeaderBytes;
    put(kDataBytesAt, data_bytes);
    put(kContentTagAt, content_tag(shard, data_bytes));
  }
  put(kTrailerHashAt, hash64(Bytes(trailer, kTrailerHashAt)));
}

const AnnounceFuzzTarget kTarget({.name = "index", .run = run, .repair = repair});

}  // namespace
}  // namespace stoker
