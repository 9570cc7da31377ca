// The seam for file formats: something that recognises a path as its own and lists the samples in it.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/sample_table.h"
#include "stoker/storage/file_access.h"
#include "stoker/storage/source.h"

namespace stoker {

/// What scanning one shard (or one folder) found.
struct ShardContents {
  std::shared_ptr<Source> source;  // every field of `samples` lies here
  SampleTable samples;
  std::vector<std::string> classes;     // by label, if the shard names them
  bool holds_index = false;             // which was not used
  std::vector<std::string> problems{};  // sentences about what is no part of a sample, and may have been meant to be
};

class ShardFormat {
 public:
  virtual ~ShardFormat() = default;

  /// "folder", "tar": for messages.
  virtual std::string_view name() const = 0;
  /// Whether `path` is this format's, by what it is and how it is called; reads little or nothing.
  virtual bool recognises(const std::string& path) const = 0;
  /// Whether a shard is one file, which can have an index.
  virtual bool is_one_file() const = 0;
  /// Finds every sample. Throws kData naming the path and the place when the shard is damaged or truncated, and kClosed
  /// when asked to stop.
  virtual ShardContents scan(const std::string& path, const FileAccess& access, const std::stop_token& stop) const = 0;
};

/// Throws kClosed when `stop` was requested: formats call it once per entry of what they scan.
void stop_if_asked(const std::stop_token& stop, const std::string& path);

/// All formats, in the order in which they are asked.
const std::vector<const ShardFormat*>& shard_formats();

}  // namespace stoker
