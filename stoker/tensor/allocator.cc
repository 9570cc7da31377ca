#include "stoker/tensor/allocator.h"

#include <sys/mman.h>

#include <new>

#include "stoker/base/error.h"
#include "stoker/base/sanitizers.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kPage = 4096;  // what direct reads want, where there is room for one
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Larger blocks come from the kernel and go back to it. malloc would keep tens of megabytes of those that were freed,
// for each thread anew: eight workers that decode large images had 70 MiB more than their budget.
#if STOKER_ADDRESS_SANITIZER
constexpr std::size_t kMappedMin = SIZE_MAX;  // what is mapped has no poisoned end
#else
constexpr std::size_t kMappedMin = std::size_t{1} << 20;
#endif

std::align_val_t alignment_of(std::size_t bytes) { return std::align_val_t{bytes >= kPage ? kPage : kAlignment}; }

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Batches and read-ahead are tens of megabytes that are written from end to end: with huge pages the kernel hands them
// over in a few hundred faults instead of tens of thousands.
std::uint8_t* map(std::size_t bytes) {
  const std::size_t wanted = whole_pages(bytes);
  const bool huge = bytes >= 2 * kHugePage;
  const std::size_t spare = huge ? kHugePage - kPage : 0;
  void* const mapped = ::mmap(nullptr, wanted + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* memory = static_cast<std::uint8_t*>(mapped);
  if (huge) {
    const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(memory) % kHugePage) % kHugePage;
    if (before > 0) ::munmap(memory, before);
    memory += before;
    if (before < spare) ::munmap(memory + wanted, spare - before);
    ::madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // only advice: a kernel without them refuses
  }
  return memory;
}

class HostAllocator final : public Allocator {
 public:
  std::uint8_t* allocate(std::size_t bytes) override {
    void* const memory = bytes >= kMappedMin ? map(bytes) : ::operator new(bytes, alignment_of(bytes), std::nothrow);
    if (!memory)
      fail(ErrorKind::kMemory, "the machine has no {} of memory left", format_size(static_cast<double>(bytes)));
    return static_cast<std::uint8_t*>(memory);
  }
  void deallocate(std::uint8_t* memory, std::size_t bytes) noexcept override {
    if (bytes >= kMappedMin) {
      ::munmap(memory, whole_pages(bytes));
    } else {
      ::operator delete(memory, alignment_of(bytes));
    }
  }
};

}  // namespace

Allocator& host_allocator() {
  static HostAllocator allocator;
  return allocator;
}

}  // namespace stoker
