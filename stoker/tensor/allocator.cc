#include "stoker/tensor/allocator.h"

#include <new>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::align_val_t kAlignment{64};

class HostAllocator final : public Allocator {
 public:
  std::uint8_t* allocate(std::size_t bytes) override {
    void* memory = ::operator new(bytes, kAlignment, std::nothrow);
    if (!memory)
      fail(ErrorKind::kMemory, "the machine has no {} of memory left", format_size(static_cast<double>(bytes)));
    return static_cast<std::uint8_t*>(memory);
  }
  void deallocate(std::uint8_t* memory, std::size_t) noexcept override { ::operator delete(memory, kAlignment); }
};

}  // namespace

Allocator& host_allocator() {
  static HostAllocator allocator;
  return allocator;
}

}  // namespace stoker
