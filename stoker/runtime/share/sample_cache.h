// The encoded bytes of samples that were read once, in memory that the ranks of a host share. Nothing is ever removed,
// so a thread that finds a sample in it needs no copy and no lock: samples that fit stay for all later epochs; others
// are read again.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "stoker/base/bytes.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

/// The memory: a file without a name, mapped by every process that has its descriptor.
class SharedMemory {
 public:
  /// Of so many bytes, all zero. Throws kMemory.
  static SharedMemory create(std::uint64_t bytes);
  /// The same memory by a descriptor from another process. Throws kIo, and kData if it is not ours.
  static SharedMemory attach(FileDescriptor descriptor);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  std::uint8_t* data() const { return data_; }
  std::uint64_t size() const { return size_; }
  int descriptor() const { return descriptor_.get(); }

 private:
  SharedMemory(FileDescriptor descriptor, std::uint64_t size);

  FileDescriptor descriptor_;
  std::uint64_t size_ = 0;
  std::uint8_t* data_ = nullptr;
};

/// Threads and processes: any.
class SampleCache {
 public:
  /// A sample's bytes begin at multiples of it: cache lines.
  static constexpr std::uint64_t kUnit = 64;

  /// The bytes that a cache of `samples` takes besides the samples' own.
  static std::uint64_t overhead(std::int64_t samples);

  /// In memory that is all zero, or already holds such a cache. Throws kMemory for less than the overhead.
  SampleCache(SharedMemory memory, std::int64_t samples);

  /// The cached bytes of a sample of this size, if there are any; valid as long as the cache.
  std::optional<Bytes> find(std::int64_t sample, std::uint64_t bytes) const;

  /// Memory for this many bytes of a sample; call keep() once they are written. Nothing if they do not fit, or another
  /// thread or process writes this sample.
  std::optional<MutableBytes> reserve(std::int64_t sample, std::uint64_t bytes);
  void keep(std::int64_t sample, MutableBytes bytes);

  /// Bytes of samples, padded.
  std::uint64_t used() const;
  std::uint64_t capacity() const { return capacity_; }

 private:
  using Entry = std::atomic<std::uint64_t>;  // kAbsent, kWriting, or kReady + the unit at which the bytes begin
  static_assert(Entry::is_always_lock_free);
  /// A process may die at any time: the sample that it was writing stays kWriting for ever, and no other waits for it.
  static constexpr std::uint64_t kAbsent = 0, kWriting = 1, kReady = 2;
  struct Header {
    std::atomic<std::uint64_t> used;
  };

  Header& header() const { return *reinterpret_cast<Header*>(memory_.data()); }
  Entry& entry(std::int64_t sample) const;

  SharedMemory memory_;
  std::int64_t samples_;
  std::uint64_t begin_, capacity_;  // of the samples' bytes
};

}  // namespace stoker
