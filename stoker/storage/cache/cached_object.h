// One object's file in a disk cache: a sparse copy, with a table of checksums before it. A chunk is there if its entry
// in the table is not 0, and good if its bytes have that checksum. This is all that makes the cache safe: whatever a
// killed process or a power failure leaves, a reader serves no chunk whose bytes do not match the table. docs/cache.md
// describes the file.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/bytes.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/source.h"

namespace stoker {

/// What names an object in the cache: hashes alone, since a URL may give access.
struct CacheKey {
  std::uint64_t place = 0, version = 0;
  std::uint64_t bytes = 0;  // the object's size

  static CacheKey of(const ObjectIdentity& identity, std::uint64_t bytes);
};

/// The part of the file before the data, as it was mapped: shared by all processes that have the object open.
class ObjectTable;

/// Threads and processes: any.
class CachedObject {
 public:
  /// The unit that is kept, checked and dropped: a page, so that the disk reads no more than it would without checks.
  static constexpr std::uint64_t kChunkBytes = 4096;
  /// What is known to have been used lately, or not, together.
  static constexpr std::uint64_t kSegmentChunks = 256;

  /// Opens the file of that key. Null if there is none at the path, or it holds another version of the object. Throws
  /// kIo.
  static std::unique_ptr<CachedObject> open(const std::string& path, const CacheKey& key, const FileAccess& access);
  /// Makes an empty one; false if there is one by then. `shown` is for people. Throws kIo.
  static bool create(const std::string& path, const CacheKey& key, std::string_view shown);
  /// What create() takes of the disk.
  static std::uint64_t table_bytes(std::uint64_t object_bytes);

  /// Facts of a file for reports; nothing if it is not the cache's.
  struct Facts {
    std::string shown;
    std::uint64_t object_bytes = 0, cached_bytes = 0, disk_bytes = 0;
  };
  static std::optional<Facts> look_at(const std::string& path);
  /// Takes all chunks away from processes that have the object open, and frees their place on the disk; with `for_good`
  /// they will add none again. The bytes that were freed, so far as they were counted. Throws kIo.
  static std::uint64_t empty(const std::string& path, bool for_good);
  /// The same for the segments that were last used before `oldest`, until about so many bytes are free.
  static std::uint64_t drop_unused(const std::string& path, std::uint32_t oldest, std::uint64_t bytes);

  ~CachedObject();
  CachedObject(const CachedObject&) = delete;
  CachedObject& operator=(const CachedObject&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t chunks() const { return (bytes_ + kChunkBytes - 1) / kChunkBytes; }

  /// Whether the bytes [begin, end) are there, as far as the table knows; counts as a use.
  bool has(std::uint64_t begin, std::uint64_t end, std::uint32_t now);
  bool has_chunk(std::uint64_t chunk) const;
  enum class Check { kGood, kGone, kDamaged };
  /// Compares the bytes that were read of a chunk. A damaged chunk is dropped: its place on the disk may be used again.
  Check check(std::uint64_t chunk, Bytes bytes);

  /// Where the object's first byte is in `data()`. Throws what opening the file throws.
  std::uint64_t data_begin() const { return data_begin_; }
  FileSource& data();
  /// What offsets and sizes of reads of `data()` had best be multiples of.
  std::uint64_t alignment() const { return access_.direct ? kDirectUnit : 1; }

  /// Writes chunks which follow each other, and then enters them in the table. The number of those that were not there
  /// before. Throws kIo; kNotFound if the file is no longer the one that was opened. One thread at a time.
  std::uint64_t store(std::uint64_t chunk, Bytes bytes, std::uint32_t now);

  /// Its file cannot be used: from now on nothing is there.
  void give_up() { given_up_.store(true, std::memory_order_relaxed); }
  /// Whether chunks may still be added.
  bool is_open() const;

 private:
  CachedObject(std::string path, const CacheKey& key, std::unique_ptr<ObjectTable> table, FileAccess access);
  FileDescriptor open_again() const;

  const std::string path_;
  const std::uint64_t bytes_, data_begin_;
  const std::unique_ptr<ObjectTable> table_;
  const FileAccess access_;
  std::atomic<bool> given_up_ = false;
  std::mutex mutex_;
  std::unique_ptr<FileSource> data_;  // once something was read
};

}  // namespace stoker
