// Writes a tar whose bytes depend on the members' names and contents only: no times, users or permissions from outside.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/base/bytes.h"
#include "stoker/base/hash.h"
#include "stoker/storage/object_writer.h"

struct archive;

namespace stoker {

/// The file takes its name in finish(), whole and on disk; a writer destroyed before that removes it.
class TarWriter {
 public:
  explicit TarWriter(std::unique_ptr<ObjectWriter> object);
  /// Into a local file. Throws kIo or kNotFound naming the path.
  explicit TarWriter(std::string path);
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  /// Returns where in the file the content begins. Throws kIo naming the object (no space left, for example); the
  /// writer is good for nothing after that.
  std::uint64_t add(std::string_view name, Bytes content);
  /// Bytes so far, each member padded to whole records, and their XXH3-64.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t hash() const { return hasher_.digest(); }
  void finish();

 private:
  static ssize_t write_block(archive* handle, void* writer, const void* block, std::size_t length);

  void require(bool ok) const;

  std::unique_ptr<ObjectWriter> object_;
  Hasher64 hasher_;
  std::uint64_t bytes_ = 0;
  std::exception_ptr write_error_;  // thrown under libarchive's frames, which no exception may pass
  std::unique_ptr<archive, int (*)(archive*)> archive_;  // goes first: it may write what it still holds
};

/// The bytes that TarWriter puts before the content of a member.
std::string tar_header(std::string_view name, std::uint64_t content_bytes);

}  // namespace stoker
