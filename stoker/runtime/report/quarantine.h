// A list of bad samples in a file, one JSON object a line: what `stoker verify --quarantine` writes ahead of time, and
// what a loader adds to as it meets them.
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
  /// Reads the list that is there, if any, and opens it to be added to. Throws kUsage for a file that is none, kIo.
  explicit Quarantine(const std::string& path);

  /// Whether the list had the sample from the beginning: by the file name of its shard, which may have moved, and its
  /// key. Threads: any.
  bool contains(const SampleRow& row) const;
  /// Writes the sample down, unless the list has it. One thread.
  void add(const BadSample& bad);

  const std::string& path() const { return path_; }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::unordered_set<std::string> known_;  // never changes
  std::unordered_set<std::string> added_;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace stoker
