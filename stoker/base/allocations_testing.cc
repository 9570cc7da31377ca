#include "stoker/base/allocations_testing.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> allocations = 0, alive = 0;
std::atomic<std::int64_t> refused_from = INT64_MAX, refused_to = INT64_MAX;  // by number

void* counted(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) noexcept {
  const std::int64_t number = allocations.fetch_add(1, std::memory_order_relaxed);
  if (number >= refused_from.load(std::memory_order_relaxed) && number < refused_to.load(std::memory_order_relaxed)) {
    return nullptr;
  }
  void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory) alive.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void release_memory(void* memory) noexcept {
  if (memory) alive.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
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
void operator delete(void* memory) noexcept { release_memory(memory); }
void operator delete(void* memory, std::size_t) noexcept { release_memory(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release_memory(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release_memory(memory); }

namespace stoker {

std::int64_t allocations_so_far() { return allocations.load(); }
std::int64_t allocations_alive() { return alive.load(); }

AllocationFault::AllocationFault(std::int64_t number, bool for_good) : first_(allocations_so_far() + number) {
  refused_to = for_good ? INT64_MAX : first_ + 1;
  refused_from = first_;
}

AllocationFault::~AllocationFault() { refused_from = INT64_MAX; }

bool AllocationFault::happened() const { return allocations_so_far() > first_; }

}  // namespace stoker
