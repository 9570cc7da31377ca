#include "stoker/tensor/allocator.h"

#include <sys/mman.h>

#include <new>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kPage = 4096;  // what direct reads want, where there is room for one
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Batches and read-ahead are tens of megabytes that are written from end to end: with huge pages the kernel hands them
// over in a few hundred faults instead of tens of thousands.
std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes >= 2 * kHugePage ? kHugePage : bytes >= kPage ? kPage : kAlignment};
}

class HostAllocator final : public Allocator {
 public:
  std::uint8_t* allocate(std::size_t bytes) override {
    const std::align_val_t alignment = alignment_of(bytes);
    void* memory = ::operator new(bytes, alignment, std::nothrow);
    if (!memory)
      fail(ErrorKind::kMemory, "the machine has no {} of memory left", format_size(static_cast<double>(bytes)));
    if (alignment == std::align_val_t{kHugePage}) {
      ::madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // only advice: a kernel without them refuses
    }
    return static_cast<std::uint8_t*>(memory);
  }
  void deallocate(std::uint8_t* memory, std::size_t bytes) noexcept override {
    ::operator delete(memory, alignment_of(bytes));
  }
};

}  // namespace

Allocator& host_allocator() {
  static HostAllocator allocator;
  return allocator;
}

}  // namespace stoker
