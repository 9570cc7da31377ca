#include "stoker/base/allocations_testing.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> allocations = 0;

void* counted(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* not_null(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

std::size_t bytes_of(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

// The array forms call these.
void* operator new(std::size_t size) { return not_null(counted(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new(std::size_t size, std::align_val_t a) { return not_null(counted(size, bytes_of(a))); }
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(size, bytes_of(a));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace stoker {

std::int64_t allocations_so_far() { return allocations.load(); }

}  // namespace stoker
