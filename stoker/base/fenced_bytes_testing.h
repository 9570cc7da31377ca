// Memory that ends, or begins, at a page that cannot be touched.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace stoker {

/// `size` bytes with an inaccessible page right after them, or right before: reading or writing outside crashes the
/// test.
class FencedBytes {
 public:
  enum class Fence { kAfter, kBefore };

  FencedBytes(std::size_t size, Fence fence) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (size + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    memory_ = static_cast<std::uint8_t*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED || mprotect(memory_ + page, inner, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = memory_ + page + (fence == Fence::kAfter ? inner - size : 0);
  }
  ~FencedBytes() { munmap(memory_, mapped_); }
  FencedBytes(const FencedBytes&) = delete;
  FencedBytes& operator=(const FencedBytes&) = delete;

  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* memory_ = nullptr;
  std::uint8_t* data_ = nullptr;
  std::size_t mapped_ = 0;
};

/// A range of addresses that is inaccessible except for the pieces taken from it, each surrounded by inaccessible
/// pages: for kernels that get places within one memory and must not touch anything between the pieces.
class FencedSpace {
 public:
  using Fence = FencedBytes::Fence;

  explicit FencedSpace(std::size_t capacity) : capacity_(pages(capacity)) {
    base_ = static_cast<std::uint8_t*>(
        mmap(nullptr, capacity_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (base_ == MAP_FAILED) std::abort();
  }
  ~FencedSpace() { munmap(base_, capacity_); }
  FencedSpace(const FencedSpace&) = delete;
  FencedSpace& operator=(const FencedSpace&) = delete;

  std::uint8_t* base() const { return base_; }

  /// The place, counted from base(), of so many zeros. Fenced exactly on one side; on the other one, too, if `bytes` is
  /// a multiple of the page's size.
  std::size_t take(std::size_t bytes, Fence fence) {
    const std::size_t inner = pages(bytes), place = taken_;
    if (place + inner + 2 * page() > capacity_) std::abort();
    if (inner > 0 && mprotect(base_ + place + page(), inner, PROT_READ | PROT_WRITE) != 0) std::abort();
    taken_ = place + page() + inner;
    return place + page() + (fence == Fence::kAfter ? inner - bytes : 0);
  }

  /// Takes all pieces back.
  void clear() {
    // Mapped again, so that the old contents are not seen.
    if (mmap(base_, taken_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
      if (taken_ > 0) std::abort();
    }
    taken_ = 0;
  }

 private:
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  static std::size_t pages(std::size_t bytes) { return (bytes + page() - 1) / page() * page(); }

  std::size_t capacity_, taken_ = 0;
  std::uint8_t* base_ = nullptr;
};

}  // namespace stoker
