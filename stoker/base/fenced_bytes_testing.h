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

}  // namespace stoker
