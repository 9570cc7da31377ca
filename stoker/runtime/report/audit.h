// One JSON line per delivered sample, in order: its key and position, and a hash of the data that the consumer gets.
// Two runs with equal audits trained on the same data.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/hash.h"
#include "stoker/storage/posix_file.h"
#include "stoker/tensor/batch.h"

namespace stoker {

/// For one thread.
class AuditWriter {
 public:
  /// Creates the file if it is not there. Throws kIo; also when another is writing it, in this process or elsewhere.
  /// What our own standard output or error go to, a file as well, gets the lines after what it has.
  explicit AuditWriter(std::string path);
  ~AuditWriter();
  AuditWriter(const AuditWriter&) = delete;
  AuditWriter& operator=(const AuditWriter&) = delete;

  /// Empties the file, for the first time: the run will not be refused any more. Throws kIo.
  void begin();
  /// Appends the batch's samples, after begin() if that was not called; padding is not delivered and has no line.
  /// Throws kIo when the disk is full.
  void write(const Batch& batch);

 private:
  FileDescriptor open_by_name();
  [[noreturn]] void fail_to_write() const;

  std::string path_;
  bool is_file_ = false;  // of our own, to be emptied and locked
  bool begun_ = false;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  Hasher64 hasher_;
  std::vector<std::vector<std::uint8_t>> room_;  // for outputs that are on a GPU
};

}  // namespace stoker
