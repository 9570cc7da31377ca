// The seam for file formats: a format recognises its shards and finds the samples in them, one by one. A format is a
// separate folder and a line in shard_format.cc.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/sample_stream.h"
#include "stoker/format/sample_table.h"
#include "stoker/storage/block_table.h"
#include "stoker/storage/stores.h"

namespace stoker {

class WritableFormat;

/// Findings of a scan besides samples.
struct ShardNotes {
  std::vector<std::string> classes{};   // by label, if the shard names them
  std::vector<std::string> problems{};  // sentences about what is not part of a sample, and may have been meant to be
  bool holds_index = false;             // which was not used
  // Of values that do not lie in the shard as one range, in compressed blocks for example: rows have offsets as
  // BlockPlaces gives them. Null without such values.
  std::shared_ptr<const BlockTable> blocks{};
};

/// The samples of one shard, found as it is scanned. The parts of fields in a folder's rows are valid only until the
/// next call.
class ShardScan : public SampleStream {
 public:
  /// Call it once, after next() has returned false.
  virtual ShardNotes take_notes() { return {}; }
};

/// The properties by which a format recognises a shard.
class ShardCandidate {
 public:
  static constexpr std::size_t kHeadBytes = 512;

  /// `facts`: none where nothing could be looked at. All must outlive it.
  ShardCandidate(const Stores& stores, const Location& location, const std::optional<ObjectFacts>& facts)
      : stores_(stores), location_(location), facts_(facts) {}

  bool is_folder() const { return facts_ && facts_->is_folder(); }
  /// The last component of its location, in lower case.
  const std::string& name() const;
  /// Its first bytes, kHeadBytes or as many as it has; none of what is not a file or cannot be read. Read when first
  /// asked for.
  Bytes head() const;

 private:
  const Stores& stores_;
  const Location& location_;
  const std::optional<ObjectFacts>& facts_;
  mutable std::string name_;
  mutable std::optional<std::vector<std::uint8_t>> head_;
};

/// Threads: any.
class ShardFormat {
 public:
  virtual ~ShardFormat() = default;

  /// "folder", "tar": for messages.
  virtual std::string_view name() const = 0;
  /// Whether the shard has this format, by its kind, its name and its first bytes.
  virtual bool recognises(const ShardCandidate& shard) const = 0;
  /// Whether a file of that name (in lower case) is one of its shards, so that a folder of such files stands for them.
  virtual bool is_shard_name(std::string_view /*name*/) const { return false; }
  /// Whether a file of that name in a folder may list the folder's shards.
  virtual bool is_list_name(std::string_view /*name*/) const { return false; }
  /// The shards that a list of the format in a folder names, in its order; none without such a list. Throws kData
  /// naming the list if it is damaged, kNotFound for a shard that is not there, kUsage where the list is of several
  /// data sets.
  virtual std::vector<Location> listed_shards(const Stores& /*stores*/, const Location& /*folder*/) const { return {}; }
  /// Whether a shard is one file, which can have an index; else it is a folder, or a list of files.
  virtual bool is_one_file() const { return true; }
  /// Whether a shard is a folder of loose files, each of them whole: all that a row says is what listing tells.
  virtual bool is_folder() const { return false; }
  /// Opens a shard that is not one file. Throws kNotFound or kIo.
  virtual std::shared_ptr<Source> open(const Store& store, const Location& at) const { return store.open_folder(at); }
  /// Begins to find the samples in `shard`, which must outlive the scan. It and the scan's next() throw kData naming
  /// the shard and the place when it is damaged or truncated, kClosed when asked to stop, and what the source throws.
  virtual std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const = 0;
  /// The same of a shard that lies there, for a format whose shards say what they hold in another object.
  virtual std::unique_ptr<ShardScan> scan_at(const Stores& /*stores*/, const Location& /*at*/, Source& shard,
                                             const std::stop_token& stop) const {
    return scan(shard, stop);
  }
  /// Whether a file may hold several sets of samples, one of which is opened.
  virtual bool may_hold_sets() const { return false; }
  /// Of a file that holds several: the set whose images are called so. Throws kUsage naming the sets for a name that
  /// none has, and for none.
  virtual std::unique_ptr<ShardScan> scan_set(Source& shard, std::string_view /*images*/,
                                              const std::stop_token& stop) const {
    return scan(shard, stop);
  }
  /// How `pack` writes it (shard_file_writer.h); null for a format that is only read.
  virtual const WritableFormat* writing() const { return nullptr; }
};

/// Throws kClosed when `stop` was requested: formats call it once per scanned entry.
void stop_if_asked(const std::stop_token& stop, std::string_view shard);

/// All formats, in the order in which they are asked.
const std::vector<const ShardFormat*>& shard_formats();

/// Whether a file of that name is a shard of any of them, by its name alone.
bool is_shard_name(std::string_view name);

/// The format of a shard; null if none recognises it.
const ShardFormat* format_of(const ShardCandidate& shard);

}  // namespace stoker
