// The rows of one shard as its index has them: read block by block as they are needed, each checked before it is used.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/format/index/index_cache.h"
#include "stoker/format/index/index_layout.h"
#include "stoker/format/shard_rows.h"
#include "stoker/storage/block_table.h"
#include "stoker/storage/kept_end.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Where an index's bytes lie: a file of their own, or a range of the shard.
struct IndexPlace {
  std::shared_ptr<Source> source;
  std::uint64_t begin = 0;
  IndexTrailer trailer;
  std::optional<KeptEnd> end{};  // of the source, to read from while the index is opened
};

class ShardIndex final : public ShardRows {
 public:
  /// Reads and checks the directory, the field names, and the rows that the kept end has. Throws kIo, and kData for an
  /// index that is damaged.
  ShardIndex(IndexPlace place, std::shared_ptr<IndexCache> cache);

  std::int64_t size() const override { return static_cast<std::int64_t>(place_.trailer.samples); }
  const std::vector<std::string>& field_names() const override { return field_names_; }
  Fingerprint fingerprint() const override { return {place_.trailer.fingerprint, size()}; }
  std::uint64_t bytes() const override { return place_.trailer.sample_bytes; }
  void read(std::int64_t row, SampleRow& into) const override;
  void prepare(std::int64_t row, IndexFetch& fetch) const override;

  /// The compressed blocks that fields lie in; null if there are none.
  const std::shared_ptr<const BlockTable>& compressed_blocks() const { return compressed_blocks_; }
  /// By label; empty if the shard does not name its classes.
  const std::vector<std::string>& class_names() const { return class_names_; }
  const IndexTrailer& trailer() const { return place_.trailer; }
  bool is_inside_shard() const { return place_.begin > 0; }
  /// Reads and checks every byte of the index. Throws as the constructor.
  void check_all() const;

 private:
  friend class IndexFetch;

  void read_directory_of(const IndexPlace& place);
  void read_names(const IndexSection& section, std::vector<std::string>& into) const;
  void read_compressed_blocks(const IndexSection& section);
  void cache_kept_rows();
  std::vector<std::uint8_t> read_checked(const IndexBlockPlace& place) const;
  /// Throws kData unless the bytes are those that were written.
  void finish_loading(std::int64_t block, LoadedBlock& loaded) const;
  void place_entry_points(std::int64_t block, SampleRow& row) const;
  [[noreturn]] void fail_damaged(std::string_view what) const;

  IndexPlace place_;
  std::shared_ptr<IndexCache> cache_;
  int number_;  // of this index in the cache
  std::vector<IndexSection> sections_;
  std::vector<IndexBlockPlace> blocks_;        // of the rows
  std::vector<IndexBlockPlace> entry_points_;  // of the same samples
  std::vector<std::string> field_names_, class_names_;
  std::shared_ptr<const BlockTable> compressed_blocks_;
};

/// Blocks of several indexes, fetched with one wait.
class IndexFetch {
 public:
  void add(const ShardIndex& index, std::int64_t block);
  /// What cannot be read or is damaged stays out of the cache: reading a row of it says why.
  void run();

 private:
  struct Read {
    const ShardIndex* index;
    std::int64_t block;
    LoadedBlock loaded;
    ReadRequest request;
    MutableBytes into;
  };
  std::vector<Read> reads_;
};

}  // namespace stoker
