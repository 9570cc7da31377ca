// Writes MDS shards and the index.json that lists them, as MosaicML's Streaming reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/format/mds/mds_columns.h"
#include "stoker/storage/object_writer.h"

namespace stoker {

struct MdsColumnSpec {
  std::string name;
  std::string encoding;  // "jpeg", "bytes", "str", "int"
};

/// In the order of their names, as Streaming wants them. Throws kData, as a clause, for columns that cannot be.
std::vector<MdsColumn> mds_columns(const std::vector<MdsColumnSpec>& specs);

/// A shard in index.json.
struct MdsListedShard {
  std::string name;  // relative to the folder of index.json
  std::uint64_t bytes = 0;
  std::uint64_t samples = 0;
};

/// The shard is written in finish(), since it begins with where each sample lies: all samples are held until then. It
/// takes its name there, whole and lasting; a writer destroyed before that leaves nothing. Threads: one.
class MdsWriter {
 public:
  // Offsets are numbers of 32 bits.
  static constexpr std::uint64_t kShardBytesMax = 0xffffffff;

  /// Throws kData, as a clause, for columns that cannot be.
  MdsWriter(std::unique_ptr<ObjectWriter> object, const std::vector<MdsColumnSpec>& columns);

  /// In the order of their names, in which add() takes values and Streaming wants them.
  const std::vector<MdsColumn>& columns() const { return columns_; }
  /// Adds a sample, encoded values of all columns: copies them. Returns its bytes, which live as long as the writer.
  /// Throws kUsage, as a clause, for a value that has not the size of its column, kLimit if the shard would exceed
  /// kShardBytesMax.
  Bytes add(std::span<const Bytes> values);
  /// The bytes that the shard has with the samples so far.
  std::uint64_t bytes() const { return offset_of_samples() + sample_bytes_; }
  std::uint64_t samples() const { return samples_.size(); }
  /// Where in the shard the first sample lies, with the samples so far: each further one moves it. All others follow it
  /// at once.
  std::uint64_t offset_of_samples() const;
  /// Throws kIo naming the object. What it has written then is bytes() long and has this XXH3-64.
  std::uint64_t finish();

 private:
  std::unique_ptr<ObjectWriter> object_;
  std::vector<MdsColumn> columns_;
  std::size_t varying_ = 0;  // columns whose values have sizes in front
  std::string description_;  // the JSON
  std::vector<std::vector<std::uint8_t>> samples_;
  std::uint64_t sample_bytes_ = 0;  // of all of them
};

/// The text of index.json. The columns are those of each shard.
std::string mds_index(const std::vector<MdsColumn>& columns, const std::vector<MdsListedShard>& shards);

}  // namespace stoker
