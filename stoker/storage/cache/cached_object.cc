#include "stoker/storage/cache/cached_object.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/storage/cache/object_table.h"

namespace stoker {
namespace {

/// No descriptor where there is no such file.
FileDescriptor open_object_file(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno != ENOENT) fail_system("open", path, errno);
  return file;
}

bool is_same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// The file that a new object is made in, locked: one process makes it, others wait until it is there. A process that
/// was killed leaves a file that the next one overwrites.
FileDescriptor lock_new_file(const std::string& path) {
  for (;;) {
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!file) fail_system("create", path, errno);
    int locked;
    do {
      locked = ::flock(file.get(), LOCK_EX);
    } while (locked != 0 && errno == EINTR);
    struct stat opened, named;
    if (::fstat(file.get(), &opened) != 0) fail_system("look at", path, errno);
    if (::stat(path.c_str(), &named) == 0 && is_same_file(opened, named)) return file;
  }
}

/// Frees a part of the file, which then reads as zeros. File systems that cannot do so keep it until it is overwritten.
void free_range(const FileDescriptor& file, std::uint64_t begin, std::uint64_t length) {
  static_cast<void>(::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                                static_cast<off_t>(length)));
}

}  // namespace

CacheKey CacheKey::of(const ObjectIdentity& identity, std::uint64_t bytes) {
  return {.place = hash64(identity.place), .version = hash64(identity.version), .bytes = bytes};
}

CachedObject::CachedObject(std::string path, const CacheKey& key, std::unique_ptr<ObjectTable> table, FileAccess access)
    : path_(std::move(path)),
      bytes_(key.bytes),
      data_begin_(table_bytes(key.bytes)),
      table_(std::move(table)),
      access_(std::move(access)) {}

CachedObject::~CachedObject() = default;

std::uint64_t CachedObject::table_bytes(std::uint64_t object_bytes) { return ObjectTable::bytes_for(object_bytes); }

std::unique_ptr<CachedObject> CachedObject::open(const std::string& path, const CacheKey& key,
                                                 const FileAccess& access) {
  const FileDescriptor file = open_object_file(path);
  if (!file) return nullptr;
  std::unique_ptr<ObjectTable> table = ObjectTable::map(file, path);
  if (!table) return nullptr;
  const ObjectHeader& header = table->header();
  if (header.place != key.place || header.version != key.version || header.bytes != key.bytes) return nullptr;
  if (header.closed.load() != 0) return nullptr;
  return std::unique_ptr<CachedObject>(new CachedObject(path, key, std::move(table), access));
}

bool CachedObject::create(const std::string& path, const CacheKey& key, std::string_view shown) {
  const std::string new_path = path + ".new";
  const FileDescriptor file = lock_new_file(new_path);
  if (const FileDescriptor there = open_object_file(path)) {
    const std::unique_ptr<ObjectTable> table = ObjectTable::map(there, path);
    const bool is_it = table && table->header().place == key.place && table->header().version == key.version &&
                       table->header().bytes == key.bytes && table->header().closed.load() == 0;
    if (is_it) {
      ::unlink(new_path.c_str());
      return false;
    }
  }
  const std::uint64_t table = table_bytes(key.bytes);
  alignas(ObjectHeader) std::uint8_t bytes[sizeof(ObjectHeader)] = {};
  auto& header = *reinterpret_cast<ObjectHeader*>(bytes);
  std::memcpy(header.magic, ObjectHeader::kMagic, sizeof header.magic);
  header.place = key.place;
  header.version = key.version;
  header.bytes = key.bytes;
  header.shown_size = std::min(shown.size(), ObjectHeader::kShownMax);
  std::memcpy(header.shown, shown.data(), header.shown_size);
  header.checksum = header.computed_checksum();
  const auto refuse = [&](int error) {
    ::unlink(new_path.c_str());
    fail_system("write", path, error);
  };
  // Emptied first: it may be what a killed process left. The table gets its place on the disk now, since a full disk
  // cannot be told to a process that writes to mapped memory.
  if (::ftruncate(file.get(), 0) != 0) refuse(errno);
  if (::ftruncate(file.get(), static_cast<off_t>(table + key.bytes)) != 0) refuse(errno);
  if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(table)); error != 0) refuse(error);
  if (::pwrite(file.get(), bytes, sizeof bytes, 0) != sizeof bytes) refuse(errno);
  if (std::rename(new_path.c_str(), path.c_str()) != 0) refuse(errno);
  return true;
}

std::optional<CachedObject::Facts> CachedObject::look_at(const std::string& path) {
  const FileDescriptor file = open_for_reading(AT_FDCWD, path.c_str());
  if (!file) return std::nullopt;
  struct stat found;
  if (::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  alignas(ObjectHeader) std::uint8_t bytes[sizeof(ObjectHeader)];
  if (::pread(file.get(), bytes, sizeof bytes, 0) != sizeof bytes) return std::nullopt;
  const auto& header = *reinterpret_cast<const ObjectHeader*>(bytes);
  if (std::memcmp(header.magic, ObjectHeader::kMagic, sizeof header.magic) != 0) return std::nullopt;
  if (header.computed_checksum() != header.checksum || header.shown_size > ObjectHeader::kShownMax) return std::nullopt;
  Facts facts{.shown = std::string(header.shown, header.shown_size),
              .object_bytes = header.bytes,
              .disk_bytes = static_cast<std::uint64_t>(found.st_blocks) * 512};
  const std::uint64_t table = table_bytes(header.bytes);
  facts.cached_bytes = std::min(header.bytes, facts.disk_bytes - std::min(facts.disk_bytes, table));
  return facts;
}

std::uint64_t CachedObject::empty(const std::string& path, bool for_good) {
  const FileDescriptor file = open_object_file(path);
  if (!file) return 0;
  const std::unique_ptr<ObjectTable> table = ObjectTable::map(file, path);
  if (!table) return 0;
  std::uint64_t freed = 0;
  // Only one process counts the table itself.
  if (for_good && table->header().closed.exchange(1) == 0) freed += table_bytes(table->header().bytes);
  // Entries first: a reader that finds zeros in place of a chunk must not take them for damage.
  for (std::uint64_t chunk = 0; chunk < table->chunks(); ++chunk) {
    if (table->sum(chunk).exchange(0) != 0) freed += kChunkBytes;
  }
  free_range(file, table_bytes(table->header().bytes), table->header().bytes);
  return freed;
}

std::uint64_t CachedObject::drop_unused(const std::string& path, std::uint32_t oldest, std::uint64_t bytes) {
  const FileDescriptor file = open_object_file(path);
  if (!file) return 0;
  const std::unique_ptr<ObjectTable> table = ObjectTable::map(file, path);
  if (!table) return 0;
  std::uint64_t freed = 0;
  for (std::uint64_t segment = 0; segment < table->segments() && freed < bytes; ++segment) {
    if (table->last_use(segment).load(std::memory_order_relaxed) >= oldest) continue;
    const std::uint64_t first = segment * kSegmentChunks, end = std::min(first + kSegmentChunks, table->chunks());
    std::uint64_t dropped = 0;
    for (std::uint64_t chunk = first; chunk < end; ++chunk)
      dropped += table->sum(chunk).exchange(0) != 0 ? kChunkBytes : 0;
    if (dropped == 0) continue;
    freed += dropped;
    free_range(file, table_bytes(table->header().bytes) + first * kChunkBytes, (end - first) * kChunkBytes);
  }
  return freed;
}

bool CachedObject::is_open() const {
  return !given_up_.load(std::memory_order_relaxed) && table_->header().closed.load(std::memory_order_relaxed) == 0;
}

bool CachedObject::has_chunk(std::uint64_t chunk) const {
  return !given_up_.load(std::memory_order_relaxed) && table_->sum(chunk).load(std::memory_order_relaxed) != 0;
}

bool CachedObject::has(std::uint64_t begin, std::uint64_t end, std::uint32_t now) {
  for (std::uint64_t chunk = begin / kChunkBytes; chunk * kChunkBytes < end; ++chunk) {
    if (!has_chunk(chunk)) return false;
  }
  for (std::uint64_t segment = begin / kChunkBytes / kSegmentChunks; segment * kSegmentChunks * kChunkBytes < end;
       ++segment) {
    std::atomic<std::uint32_t>& last_use = table_->last_use(segment);
    if (last_use.load(std::memory_order_relaxed) != now) last_use.store(now, std::memory_order_relaxed);
  }
  return true;
}

CachedObject::Check CachedObject::check(std::uint64_t chunk, Bytes bytes) {
  std::uint64_t sum = table_->sum(chunk).load(std::memory_order_relaxed);
  if (sum == 0) return Check::kGone;
  if (sum == sum_of(bytes)) return Check::kGood;
  return table_->sum(chunk).compare_exchange_strong(sum, 0) ? Check::kDamaged : Check::kGone;
}

FileSource& CachedObject::data() {
  const std::lock_guard lock(mutex_);
  if (data_) return *data_;
  if (access_.direct) {
    try {
      data_ = std::make_unique<FileSource>(path_, access_, FileOptions{.direct = true, .random = true});
      return *data_;
    } catch (const Error&) {
      // The cache may lie on a file system without direct reads, unlike the data.
    }
  }
  data_ = std::make_unique<FileSource>(path_, access_, FileOptions{.direct = false, .random = true});
  return *data_;
}

// No descriptor if another file has taken its name since, or none.
FileDescriptor CachedObject::open_again() const {
  FileDescriptor file = open_object_file(path_);
  struct stat named;
  if (!file || ::fstat(file.get(), &named) != 0 || !is_same_file(named, table_->file())) return FileDescriptor();
  return file;
}

std::uint64_t CachedObject::store(std::uint64_t chunk, Bytes bytes, std::uint32_t now) {
  const FileDescriptor file = open_again();
  if (!file) fail(ErrorKind::kNotFound, "'{}' was removed from the cache", path_);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written = ::pwrite(file.get(), bytes.data() + done, bytes.size() - done,
                                     static_cast<off_t>(data_begin_ + chunk * kChunkBytes + done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_system("write", path_, errno);
    done += static_cast<std::size_t>(written);
  }
  if (access_.direct) {
    // Direct reads wait for what is not yet on the disk; a hint, so that nothing is left to wait for by then.
    static_cast<void>(::sync_file_range(file.get(), static_cast<off_t>(data_begin_ + chunk * kChunkBytes),
                                        static_cast<off_t>(bytes.size()), SYNC_FILE_RANGE_WRITE));
  }
  std::uint64_t added = 0;
  for (std::size_t done = 0; done < bytes.size(); done += kChunkBytes, ++chunk) {
    const std::uint64_t sum = sum_of(bytes.subspan(done, std::min<std::size_t>(kChunkBytes, bytes.size() - done)));
    // After the bytes, for other processes: they may see the entry at once.
    added += table_->sum(chunk).exchange(sum, std::memory_order_release) == 0 ? 1 : 0;
    table_->last_use(chunk / kSegmentChunks).store(now, std::memory_order_relaxed);
  }
  return added;
}

}  // namespace stoker
