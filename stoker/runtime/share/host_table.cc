#include "stoker/runtime/share/host_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"

namespace stoker {
namespace {

// Only lock-free atomics work between processes.
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free);
static_assert(sizeof(HostSlot) % 64 == 0);

constexpr std::size_t kBytes = HostTable::kSlots * sizeof(HostSlot);

/// New memory is zero, which is an empty table: so it does not matter which process makes it, or whether that process
/// is killed.
FileDescriptor open_object(const std::string& name) {
  FileDescriptor object(::shm_open(name.c_str(), O_RDWR | O_CREAT, S_IRUSR | S_IWUSR));
  struct stat facts {};
  if (!object || ::fstat(object.get(), &facts) != 0) fail_system("share", name, errno);
  const bool ours = facts.st_uid == ::geteuid() && (facts.st_mode & ALLPERMS) == (S_IRUSR | S_IWUSR);
  if (!ours || !S_ISREG(facts.st_mode)) fail(ErrorKind::kIo, "'{}' belongs to others as well as this user", name);
  if (facts.st_size != 0 && facts.st_size != static_cast<off_t>(kBytes)) {
    fail(ErrorKind::kIo, "'{}' has {} bytes, not {}", name, facts.st_size, kBytes);
  }
  // Its pages are allocated now: without room for them, the first access would end the process.
  while (::fallocate(object.get(), 0, 0, kBytes) != 0) {
    if (errno != EINTR) fail_system("share", name, errno);
  }
  return object;
}

HostSlot* map(const FileDescriptor& object, const std::string& name) {
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, object.get(), 0);
  if (memory == MAP_FAILED) fail_system("share", name, errno);
  return static_cast<HostSlot*>(memory);
}

constinit std::array<HostSlot, HostTable::kSlots> own_slots{};

}  // namespace

HostTable::HostTable(const std::string& name) : slots_(own_slots.data()) {
  try {
    FileDescriptor object = open_object(name);
    slots_ = map(object, name);
    object_ = std::move(object);
  } catch (const Error& error) {
    log(LogLevel::kDebug, "loaders of other processes are ignored when cores are divided: {}", error.message());
  }
}

HostTable::~HostTable() {
  if (object_) ::munmap(slots_, kBytes);
}

bool HostTable::removed() const {
  struct stat facts {};
  return object_ && ::fstat(object_.get(), &facts) == 0 && facts.st_nlink == 0;
}

}  // namespace stoker
