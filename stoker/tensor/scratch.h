// A block of memory that grows to the largest size asked for and is used again: per worker, so that nothing is
// allocated per sample once the sizes have been seen.
#pragma once

#include "stoker/tensor/allocator.h"

namespace stoker {

class Scratch {
 public:
  explicit Scratch(Allocator& allocator = host_allocator()) : allocator_(&allocator) {}

  /// At least `bytes` bytes, 64-byte aligned, contents undefined; valid until the next call.
  std::uint8_t* bytes(std::size_t bytes) {
    if (bytes > memory_.size()) {
      memory_ = Memory();  // not both at once
      memory_ = Memory(*allocator_, bytes + bytes / 4);
    }
    return memory_.data();
  }
  template <typename T>
  T* array(std::size_t count) {
    return reinterpret_cast<T*>(bytes(count * sizeof(T)));
  }

 private:
  Allocator* allocator_;
  Memory memory_;
};

}  // namespace stoker
