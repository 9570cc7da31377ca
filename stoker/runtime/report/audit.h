// One JSON line per delivered sample, in order: its key and position, and a hash of the data that the consumer gets.
// Two runs with equal audits trained on the same data.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/hash.h"
#include "stoker/tensor/batch.h"

namespace stoker {

/// For one thread.
class AuditWriter {
 public:
  /// Creates or empties the file. Throws kIo.
  explicit AuditWriter(const std::string& path);

  /// Appends the batch's samples; padding is not delivered and has no line. Throws kIo when the disk is full.
  void write(const Batch& batch);

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  Hasher64 hasher_;
  std::vector<std::vector<std::uint8_t>> room_;  // for outputs that are on a GPU
};

}  // namespace stoker
