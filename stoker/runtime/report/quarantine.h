// A list of bad samples in a file, one JSON object a line. `stoker verify --quarantine` writes it ahead of time, and a
// loader adds each bad sample that it finds.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <unordered_set>

#include "stoker/format/bad_sample.h"
#include "stoker/format/sample_row.h"

namespace stoker {

class Quarantine {
 public:
  /// Reads the existing list, if any, and opens it for appending. What is not a regular file, or is what our own
  /// standard output or error go to, is not read. Waits for the reader of a pipe. Throws kUsage for a file that is not
  /// such a list, kIo.
  explicit Quarantine(const std::string& path);

  /// Whether the list had the sample when it was read: by the file name of its shard, which may have moved, and its
  /// key. Threads: any.
  bool contains(const SampleRow& row) const;
  bool contains(const BadSample& bad) const;
  /// Appends the sample unless the list has it. One thread.
  void add(const BadSample& bad);

  const std::string& path() const { return path_; }

 private:
  /// Whether the last line lacks its end.
  bool read_list();

  std::string path_;
  std::unordered_set<std::string> known_;  // never changes once it was read
  std::unordered_set<std::string> added_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace stoker
