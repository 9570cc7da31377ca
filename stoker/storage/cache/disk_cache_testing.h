// Disk caches, and objects of stores, for tests.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/storage/cache/disk_cache.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {

inline constexpr std::uint64_t kChunk = CachedObject::kChunkBytes;

inline std::vector<std::uint8_t> some_bytes(std::size_t size, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(size);
  Random random(seed, 0, 0, 0);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next_u32());
  return bytes;
}

/// An object of a store that counts what is read from it.
class Remote final : public Source {
 public:
  Remote(std::string place, std::string version, std::vector<std::uint8_t> bytes)
      : place_(std::move(place)), version_(std::move(version)), bytes_(bytes), inner_(place_, std::move(bytes)) {}

  const std::string& name() const override { return place_; }
  std::uint64_t size(std::string_view part = {}) const override { return inner_.size(part); }
  std::optional<ObjectIdentity> identity(std::string_view /*part*/ = {}) const override {
    return ObjectIdentity{place_, version_};
  }
  void start(ReadRequest& request) override {
    ++reads;
    bytes_read += request.length();
    inner_.start(request);
  }

  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  std::atomic<std::uint64_t> reads = 0, bytes_read = 0;

 private:
  std::string place_, version_;
  std::vector<std::uint8_t> bytes_;
  MemorySource inner_;
};

inline FileAccess inline_access() { return FileAccess(std::make_shared<InlineExecutor>()); }

struct Cache {
  explicit Cache(const std::string& folder, std::uint64_t bytes_max = 64 << 20, int unused_epochs = 1)
      : cache({.folder = folder, .bytes_max = bytes_max, .unused_epochs = unused_epochs}, inline_access(),
              std::make_shared<InlineExecutor>()) {}

  /// Whether the bytes that the cache gives are the object's.
  bool reads_right(Remote& remote, std::uint64_t offset, std::size_t length) {
    std::vector<std::uint8_t> bytes(length);
    read_fully(cache.in_front_of(remote), offset, bytes);
    return std::equal(bytes.begin(), bytes.end(), remote.bytes().begin() + static_cast<std::ptrdiff_t>(offset));
  }
  bool reads_right(Remote& remote) { return reads_right(remote, 0, remote.bytes().size()); }

  DiskCache cache;
};

}  // namespace stoker
