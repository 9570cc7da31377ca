// Where the memory of batches comes from: the host today; pinned and device memory are further allocators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace stoker {

class Allocator {
 public:
  virtual ~Allocator() = default;

  /// At least `bytes` bytes, aligned for SIMD and DLPack (64 bytes). Throws kMemory when there is no more.
  virtual std::uint8_t* allocate(std::size_t bytes) = 0;
  virtual void deallocate(std::uint8_t* memory, std::size_t bytes) noexcept = 0;
};

/// Plain host memory. Threads: any. Lives as long as the program.
Allocator& host_allocator();

/// Owns one allocation; the allocator must outlive it.
class Memory {
 public:
  Memory() = default;
  Memory(Allocator& allocator, std::size_t bytes)
      : allocator_(&allocator), data_(allocator.allocate(bytes)), size_(bytes) {}
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    Memory taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Memory() {
    if (data_) allocator_->deallocate(data_, size_);
  }

  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void swap(Memory& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  Allocator* allocator_ = nullptr;
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace stoker
