// One regular file, opened once and read by pread on an executor.
#pragma once

#include "stoker/storage/blocking_source.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

class FileSource final : public BlockingSource {
 public:
  /// Opens the file. Throws kNotFound or kIo, and kUsage for a folder, pipe, socket or device.
  FileSource(std::string path, std::shared_ptr<Executor> executor);

  const std::string& name() const override { return path_; }
  /// As it was when the file was opened; a file that shrinks later fails the reads that reach too far.
  std::uint64_t size(std::string_view part = {}) const override;

 protected:
  void read(std::uint64_t offset, Segments into, std::string_view part) const override;

 private:
  std::string path_;
  FileDescriptor fd_;
  std::uint64_t size_ = 0;
};

}  // namespace stoker
