#include "stoker/storage/cache/object_table.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "stoker/base/hash.h"

namespace stoker {

std::uint64_t sum_of(Bytes chunk) { return std::max<std::uint64_t>(hash64(chunk), 1); }

std::uint64_t ObjectHeader::computed_checksum() const {
  return hash64(Bytes(reinterpret_cast<const std::uint8_t*>(&place), checked_bytes()));
}

std::uint64_t ObjectTable::bytes_for(std::uint64_t object_bytes) {
  const std::uint64_t chunks = (object_bytes + CachedObject::kChunkBytes - 1) / CachedObject::kChunkBytes;
  const std::uint64_t bytes = ObjectHeader::kBytes + chunks * 8 + segments_of(chunks) * 4;
  return (bytes + CachedObject::kChunkBytes - 1) / CachedObject::kChunkBytes * CachedObject::kChunkBytes;
}

std::unique_ptr<ObjectTable> ObjectTable::map(const FileDescriptor& file, std::string_view path) {
  struct stat found;
  if (::fstat(file.get(), &found) != 0) fail_system("look at", path, errno);
  alignas(ObjectHeader) std::uint8_t bytes[sizeof(ObjectHeader)];
  if (!S_ISREG(found.st_mode) || ::pread(file.get(), bytes, sizeof bytes, 0) != sizeof bytes) return nullptr;
  const auto& header = *reinterpret_cast<const ObjectHeader*>(bytes);
  if (std::memcmp(header.magic, ObjectHeader::kMagic, sizeof header.magic) != 0) return nullptr;
  if (header.computed_checksum() != header.checksum || header.shown_size > ObjectHeader::kShownMax) return nullptr;
  const std::uint64_t table = bytes_for(header.bytes);
  // What lies beyond a file's end must not be touched.
  if (static_cast<std::uint64_t>(found.st_size) != table + header.bytes) return nullptr;
  void* const memory = ::mmap(nullptr, table, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) fail_system("map", path, errno);
  const std::uint64_t chunks = (header.bytes + CachedObject::kChunkBytes - 1) / CachedObject::kChunkBytes;
  return std::unique_ptr<ObjectTable>(new ObjectTable(static_cast<std::uint8_t*>(memory), table, chunks, found));
}

ObjectTable::~ObjectTable() { ::munmap(memory_, bytes_); }

std::uint64_t ObjectTable::chunks_there() const {
  std::uint64_t count = 0;
  for (std::uint64_t chunk = 0; chunk < chunks_; ++chunk) {
    count += sum(chunk).load(std::memory_order_relaxed) != 0 ? 1 : 0;
  }
  return count;
}

}  // namespace stoker
