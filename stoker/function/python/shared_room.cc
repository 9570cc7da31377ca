#include "stoker/function/python/shared_room.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::size_t kRoomStep = std::size_t{1} << 20;

}  // namespace

// The mapping is as large as the file may ever become: pages past its end are never touched.
SharedRoom::SharedRoom(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {
  if (descriptor_ < 0) fail(ErrorKind::kMemory, "no memory to share with another process: {}", std::strerror(errno));
  void* const mapped = ::mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (mapped == MAP_FAILED) {
    const int reason = errno;
    ::close(descriptor_);
    fail(ErrorKind::kMemory, "no addresses for memory to share with another process: {}", std::strerror(reason));
  }
  data_ = static_cast<std::uint8_t*>(mapped);
}

SharedRoom::~SharedRoom() {
  ::munmap(data_, kMost);
  ::close(descriptor_);
}

void SharedRoom::reserve(std::size_t bytes) {
  if (bytes <= size_) return;
  if (bytes > kMost) {
    fail(ErrorKind::kLimit, "the values of one call take {}, above the limit of {}",
         format_size(static_cast<double>(bytes)), format_size(static_cast<double>(kMost)));
  }
  const std::size_t wanted =
      std::min(kMost, (std::max(bytes, size_ + size_ / 2) + kRoomStep - 1) / kRoomStep * kRoomStep);
  if (::ftruncate(descriptor_, static_cast<off_t>(wanted)) != 0) {
    fail(ErrorKind::kMemory, "no memory to share with another process: {}", std::strerror(errno));
  }
  size_ = wanted;
}

void SharedRoom::clear() {
  if (::ftruncate(descriptor_, 0) == 0) size_ = 0;
}

}  // namespace stoker
