// Memory in a request for the source's state while the read is under way, so that nothing is allocated.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace stoker {

class ReadScratch {
 public:
  /// Makes a T, which stays until the next one is made: nothing is ever destroyed.
  template <typename T>
  T& make() {
    static_assert(sizeof(T) <= kBytes && alignof(T) <= alignof(std::max_align_t));
    static_assert(std::is_trivially_destructible_v<T>);
    return *::new (static_cast<void*>(memory_)) T();
  }

  /// The T that was made last.
  template <typename T>
  T& get() {
    return *std::launder(reinterpret_cast<T*>(memory_));
  }

 private:
  static constexpr std::size_t kBytes = 320;
  alignas(std::max_align_t) std::byte memory_[kBytes];  // left uninitialised until used
};

}  // namespace stoker
