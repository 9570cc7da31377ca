// Writes a tar whose bytes depend on the members' names and contents only: no times, users or permissions from outside.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "stoker/base/bytes.h"
#include "stoker/storage/posix_file.h"

struct archive;

namespace stoker {

/// The file is written as "PATH.partial" and takes its name in finish(); a writer destroyed before that removes it.
class TarWriter {
 public:
  /// Throws kIo or kNotFound naming the path.
  explicit TarWriter(std::string path);
  ~TarWriter();
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  /// Throws kIo naming the path (no space left, for example); the writer is good for nothing after that.
  void add(std::string_view name, Bytes content);
  void finish();

 private:
  void require(bool ok, std::string_view doing) const;

  struct ArchiveFree {
    void operator()(archive* writer) const;
  };

  std::string path_;
  std::string partial_path_;
  FileDescriptor fd_;
  std::unique_ptr<archive, ArchiveFree> archive_;
};

}  // namespace stoker
