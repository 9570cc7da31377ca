// A file that exists whole or not at all: written as "PATH.partial" (or "PATH.WRITER.partial"), on disk before it takes
// its name, and its name on disk before commit() returns. A killed process leaves at most the partial file, which the
// next attempt replaces. A device or a pipe, such as /dev/null, gets the bytes as they are written, and stays what it
// is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/storage/object_writer.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

class AtomicFile final : public ObjectWriter {
 public:
  /// `writer`: one of several that may write the file at the same time, the same bytes; each has a partial file of its
  /// own, for which those of one name take turns. Throws kIo or kNotFound naming the path; kIo also when another
  /// process is writing the same partial file, and there is no name.
  explicit AtomicFile(std::string path, std::string_view writer = {});
  /// Removes what was not committed.
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& name() const override { return path_; }
  void write(Bytes bytes) override;
  void commit() override;

 private:
  void flush();
  void write_out(Bytes bytes);

  std::string path_;          // as given, for messages
  std::string final_path_;    // wherever the process goes
  std::string partial_path_;  // empty for a device
  FileDescriptor fd_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t written_ = 0, begun_ = 0;  // bytes given to the kernel, and by it to the disk
};

/// The ending of files that are not whole yet.
inline constexpr std::string_view kPartialEnding = ".partial";

/// Puts `content` in place of what the file may have held.
void write_whole_file(const std::string& path, Bytes content);

/// Puts the names in a folder on disk.
void sync_folder(const std::string& folder);

}  // namespace stoker
