// Opens a file for reading by range, and reports everything that prevents it.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include "stoker/storage/posix_file.h"

namespace stoker {

struct FileOptions {
  bool direct = false;  // O_DIRECT: past the page cache
  bool random = false;  // reads seldom follow one another: what the kernel would read ahead wastes the disk
};

/// The least that direct reads want multiples of: what file systems ask for today, and what tars are made of. Where
/// more is asked for, reads go by way of another buffer.
inline constexpr std::uint64_t kDirectUnit = 512;

/// What a file was found to be when it was opened.
struct FileFacts {
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t size = 0;
  std::uint64_t direct_alignment = 0;  // of memory, offset and size of a direct read; 0 when it is not direct
  timespec modified{}, changed{};      // its bytes; the file in any way

  /// A text that changes whenever the bytes do.
  std::string version() const;
};

FileFacts facts_of_file(const struct stat& found);

struct OpenFile {
  FileDescriptor descriptor;
  FileFacts facts;
};

/// The path as it stays right when the working directory changes.
std::string absolute_path(const std::string& path);

/// Opens `path`, which messages call `name`. Throws kNotFound or kIo, and kUsage for a folder, pipe, socket or device;
/// kIo with a sentence of its own where the file system cannot read directly.
OpenFile open_file(const std::string& path, std::string_view name, const FileOptions& options);

/// Throws the kIo that says that a file system cannot read directly.
[[noreturn]] void fail_not_direct(std::string_view name);

/// Throws kData if the file was replaced or changed its size since it was found to be `before`.
void require_same_file(std::string_view name, const FileFacts& before, const FileFacts& now);

}  // namespace stoker
