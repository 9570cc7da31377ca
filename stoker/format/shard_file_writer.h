// The seam for formats that `pack` writes: a shard in the making, and what can be said of the format before one is
// begun. ShardFormat::writing() has a format's.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/pack_contents.h"
#include "stoker/format/sample_row.h"
#include "stoker/storage/stores.h"

namespace stoker {

class IndexWriter;

struct FinishedShard {
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;                    // XXH3-64 of the whole file
  std::optional<std::uint64_t> index_tag{};  // of the index inside: the XXH3-64 of its trailer
  // Whether its values are ranges of the file, so that it can have an index beside it where it has none inside.
  bool can_be_indexed = true;
  std::vector<std::string> beside{};   // names of files that belong to it, in its folder
  std::vector<std::string> classes{};  // by label, if the shard itself names them
};

/// A shard as a list of shards describes it.
struct WrittenShard {
  std::string name;  // in the pack's folder
  std::uint64_t bytes = 0;
  std::int64_t samples = 0;
};

/// A file of a pack that belongs to all of its shards.
struct WrittenFile {
  std::string name;  // in the pack's folder
  std::string content;
};

/// The shard takes its name in finish(), whole and lasting; a writer destroyed before that leaves nothing. Threads: one
/// at a time.
class ShardFileWriter {
 public:
  virtual ~ShardFileWriter() = default;

  /// Writes a sample. The row, whose fields have their checksums, becomes what a scan of the shard would tell: with the
  /// places of its fields in the shard, and with other fields or another key where the format has no others; what it
  /// shows lives as long as the writer. Throws kIo, and kUsage or kLimit for a sample that only its bytes show to be
  /// unfit.
  virtual void add(SampleRow& row, std::span<const Bytes> fields, Bytes entry_points) = 0;
  /// Bytes so far, as they will be in the shard, without an index.
  virtual std::uint64_t bytes() const = 0;
  virtual FinishedShard finish() = 0;
};

/// Threads: any.
class WritableFormat {
 public:
  virtual ~WritableFormat() = default;

  /// As users choose it: "tar". Also what the names of its shards end in, unless ending() says otherwise.
  virtual std::string_view name() const = 0;
  virtual std::string_view ending() const { return name(); }
  /// Throws kUsage, as a clause that says what is wrong, for a sample that the format cannot hold: with `row`'s key,
  /// label, and names and lengths of fields.
  virtual void require_fits(const SampleRow& row) const = 0;
  /// The same of what only all samples together show, such as a field that some of them lack.
  virtual void require_all_fit(const PackContents& /*contents*/) const {}
  /// The bytes that such a sample takes in a shard, or a little more.
  virtual std::uint64_t bytes_of(const SampleRow& row) const = 0;
  /// The most bytes that a shard of several samples may have.
  virtual std::uint64_t shard_bytes_max() const { return std::numeric_limits<std::uint64_t>::max(); }
  /// The memory that a writer takes for a shard which is not to exceed so many bytes; 0: hardly any.
  virtual std::uint64_t held_bytes(std::uint64_t /*shard_bytes*/) const { return 0; }
  /// Begins a shard of samples that are among the contents. The index gets the row of each sample, in order, as soon as
  /// its places are known: the last of them in finish(). All must outlive the writer. Throws kIo.
  virtual std::unique_ptr<ShardFileWriter> begin(const Stores& stores, const Location& shard, IndexWriter& index,
                                                 const PackContents& contents) const = 0;
  /// Files that other readers of the format need beside the shards, which are given in their order.
  virtual std::vector<WrittenFile> files_beside(const PackContents& /*contents*/,
                                                const std::vector<WrittenShard>& /*shards*/) const {
    return {};
  }
};

/// All that `pack` can write, the default first.
std::vector<const WritableFormat*> writable_formats();

/// The one of that name. Throws kUsage, naming all of them.
const WritableFormat& writable_format(std::string_view name);

}  // namespace stoker
