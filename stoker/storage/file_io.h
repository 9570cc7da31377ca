// The seam below file sources: an interface that reads ranges of open files into pieces, many at once.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "stoker/storage/intrusive_queue.h"
#include "stoker/storage/pieces.h"

namespace stoker {

/// One range of one open file. The caller owns it and keeps it, its descriptor and its memory until `ended` was
/// called.
struct FileRead {
  int fd = -1;
  std::uint64_t offset = 0;
  Pieces into;
  /// Direct reads: what offsets and sizes are multiples of. A read that ends elsewhere has met the end of the file.
  std::uint64_t alignment = 1;
  std::uint64_t enough = std::numeric_limits<std::uint64_t>::max();  // ends the read as soon as so many bytes are there

  void (*ended)(FileRead& read) noexcept = nullptr;  // once, on any thread, also before start() returns
  void* context = nullptr;                           // the caller's

  std::uint64_t count = 0;  // bytes read or passed over: fewer than asked for at the end of the file
  int error = 0;            // errno, or 0

  // How an implementation works its way through the read: begin(), then gather() and take() until finished().
  void begin();
  /// Passes over the holes that are not worth reading; whether there is nothing left to read.
  bool finished();
  /// The file offset of what gather() describes.
  std::uint64_t position() const { return offset + count; }
  /// What to hand to readv() next, at most `bytes_max` bytes: not empty unless finished(). `sink` takes the bytes of
  /// holes and has kHoleReadMax bytes.
  std::size_t gather(std::span<iovec> entries, MutableBytes sink, std::uint64_t bytes_max) const;
  /// What came of it: bytes, 0 at the end of the file, or a negated errno. Interrupted calls count for nothing.
  void take(std::int64_t result);

  PieceCursor place;         // the first byte not yet there
  bool at_file_end = false;  // or an error: there is no more to come
  FileRead* next = nullptr;  // in the queue of an implementation
  void* io = nullptr;        // the implementation
};

class FileIo {
 public:
  virtual ~FileIo() = default;

  /// "pread", "io_uring": for reports.
  virtual std::string_view name() const = 0;

  /// Starts the read; what goes wrong is told through it. Threads: any, also several at once, also from `ended`.
  /// Allocates nothing in the steady state.
  virtual void start(FileRead& read) = 0;
};

}  // namespace stoker
