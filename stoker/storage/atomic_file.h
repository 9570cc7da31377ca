// A file that exists whole or not at all: written as "PATH.partial" (or "PATH.WRITER.partial"), on disk before it takes
// its name, and its name on disk before commit() returns. A killed process leaves at most the partial file, which the
// next attempt replaces. Of a symbolic link the target is replaced. A device or a pipe, such as /dev/null, and what our
// own standard output or error go to get the bytes as they are written, and stay what they are.
#pragma once

#include <list>
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
  /// own, for which those of one name take turns. Throws kIo or kNotFound naming the path; kIo also for a folder, and
  /// when another process is writing the same partial file, and there is no name. Waits for the reader of a pipe.
  explicit AtomicFile(std::string path, std::string_view writer = {});
  /// Removes what was not committed.
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& name() const override { return path_; }
  void write(Bytes bytes) override;
  void commit() override;

 private:
  friend void remove_unfinished_files();
  void begin_partial(std::string_view writer);
  void end_partial();
  void flush();
  void write_out(Bytes bytes);

  std::string path_;          // as given, for messages
  std::string final_path_;    // wherever the process goes; empty for what takes bytes as they come
  std::string partial_path_;  // the same
  FileDescriptor fd_;
  std::list<const AtomicFile*> entry_{this};  // for remove_unfinished_files(), made before there is a file
  std::vector<std::uint8_t> buffer_;
  std::uint64_t written_ = 0, begun_ = 0;  // bytes given to the kernel, and by it to the disk
};

/// The ending of files that are not whole yet.
inline constexpr std::string_view kPartialEnding = ".partial";

/// Puts `content` in place of what the file may have held.
void write_whole_file(const std::string& path, Bytes content);

/// Puts the names in a folder on disk.
void sync_folder(const std::string& folder);

/// Removes the partial files of all that this process writes: for one that is about to end without destroying anything.
/// Threads: any.
void remove_unfinished_files();

/// A copy of our standard output or error, if the path leads to one of them and it can be written to; else none. If
/// opened by its name, it would have a separate position, and what is written by one would overwrite the other.
FileDescriptor own_output(const std::string& path);

/// The file that writing to the path creates or replaces: where its symbolic links lead, which need not exist. Empty
/// for what takes bytes as they come: a device, a pipe, a file without a name, and our own standard output and error.
/// Throws kIo for a folder, and for links in a circle.
std::string replaced_file(const std::string& path);

}  // namespace stoker
