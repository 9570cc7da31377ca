// Memory that two processes see: one file without a name, of which this process has a mapping.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

/// Grows and shrinks without moving. Threads: one at a time.
class SharedRoom {
 public:
  /// Throws kMemory.
  explicit SharedRoom(const char* name);
  ~SharedRoom();
  SharedRoom(const SharedRoom&) = delete;
  SharedRoom& operator=(const SharedRoom&) = delete;

  int descriptor() const { return descriptor_; }
  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// At least so many bytes. Throws kMemory, and kLimit past kMost.
  void reserve(std::size_t bytes);
  /// Gives all of it back.
  void clear();

  // Results of whole batches have up to twice the room that they need; what is never written takes no memory.
  static constexpr std::size_t kMost = std::size_t{16} << 30;

 private:
  int descriptor_ = -1;
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace stoker
