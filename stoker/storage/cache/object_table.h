// The front of a cached object's file, mapped: a header that never changes, marks, a checksum for each chunk, and the
// last use of each segment. All processes that have the object open share it, so entries are atomic.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/storage/cache/cached_object.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

/// The first bytes of the file. Native byte order: the file stays on its machine.
struct ObjectHeader {
  static constexpr char kMagic[8] = {'s', 't', 'o', 'k', 'e', 'r', 'c', '1'};
  static constexpr std::size_t kBytes = 4096, kShownMax = 3072;

  char magic[8];
  std::uint64_t checksum;  // of what follows, up to `marks`
  std::uint64_t place, version, bytes;
  std::uint64_t shown_size;
  char shown[kShownMax];
  // Marks, which do change:
  std::atomic<std::uint32_t> closed;  // no process adds chunks any more

  static std::size_t checked_bytes() { return offsetof(ObjectHeader, closed) - offsetof(ObjectHeader, place); }
  std::uint64_t computed_checksum() const;
};
static_assert(sizeof(ObjectHeader) <= ObjectHeader::kBytes);

class ObjectTable {
 public:
  /// Maps the table of a file that is open for reading and writing. Null if the file is none of the cache's, or not
  /// whole. Throws kIo.
  static std::unique_ptr<ObjectTable> map(const FileDescriptor& file, std::string_view path);
  ~ObjectTable();
  ObjectTable(const ObjectTable&) = delete;
  ObjectTable& operator=(const ObjectTable&) = delete;

  ObjectHeader& header() const { return *reinterpret_cast<ObjectHeader*>(memory_); }
  std::uint64_t chunks() const { return chunks_; }
  std::uint64_t segments() const { return segments_of(chunks_); }
  /// 0: the chunk is not there.
  std::atomic<std::uint64_t>& sum(std::uint64_t chunk) const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(memory_ + ObjectHeader::kBytes)[chunk];
  }
  /// When one of its chunks was used last, by the cache's clock.
  std::atomic<std::uint32_t>& last_use(std::uint64_t segment) const {
    return reinterpret_cast<std::atomic<std::uint32_t>*>(memory_ + ObjectHeader::kBytes + chunks_ * 8)[segment];
  }
  std::uint64_t chunks_there() const;
  const struct stat& file() const { return file_; }

  static std::uint64_t segments_of(std::uint64_t chunks) {
    return (chunks + CachedObject::kSegmentChunks - 1) / CachedObject::kSegmentChunks;
  }
  /// Where the data begin.
  static std::uint64_t bytes_for(std::uint64_t object_bytes);

 private:
  ObjectTable(std::uint8_t* memory, std::uint64_t bytes, std::uint64_t chunks, const struct stat& file)
      : memory_(memory), bytes_(bytes), chunks_(chunks), file_(file) {}

  std::uint8_t* const memory_;
  const std::uint64_t bytes_, chunks_;
  const struct stat file_;
};

/// What an entry says of a chunk with these bytes: their hash, but never 0.
std::uint64_t sum_of(Bytes chunk);

}  // namespace stoker
