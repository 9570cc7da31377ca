// Lets the processes of a host share memory: the first one makes it and passes its descriptor to the others over a
// socket. No file is left behind, and /dev/shm, which containers keep small, is not used.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "stoker/format/dataset.h"
#include "stoker/runtime/share/sample_cache.h"

namespace stoker {

/// Threads: one.
class CacheShare {
 public:
  /// Memory of this many bytes, shared by all processes of this user that ask for the same `name` (which must include
  /// the size); with an empty name it is this process's own. The process that made it serves it as long as this object
  /// lives; the memory itself lives as long as any process has it. Throws kMemory. If sharing is not possible, the
  /// reason is logged and the memory is this process's own.
  CacheShare(const std::string& name, std::uint64_t bytes, std::chrono::milliseconds patience = kPatience);
  ~CacheShare();
  CacheShare(const CacheShare&) = delete;
  CacheShare& operator=(const CacheShare&) = delete;

  /// Once.
  SharedMemory take() { return std::move(memory_); }
  /// Whether others may be given it by this process.
  bool serves() const { return server_ != nullptr; }

 private:
  class Server;
  /// The process that has the memory answers in microseconds; one that is stopped in a debugger must not stop us.
  static constexpr std::chrono::milliseconds kPatience{5000};

  std::unique_ptr<Server> server_;
  SharedMemory memory_;
};

/// So much memory for a cache of these fields, shared with the other ranks of the job on this host; null for none.
std::unique_ptr<CacheShare> cache_share(const Dataset& dataset, std::span<const std::string> fields, int world,
                                        std::uint64_t bytes);

}  // namespace stoker
