#include "stoker/runtime/share/sample_cache.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::uint64_t in_units(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

SharedMemory::SharedMemory(FileDescriptor descriptor, std::uint64_t size)
    : descriptor_(std::move(descriptor)), size_(size) {
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
  if (memory == MAP_FAILED) {
    fail(ErrorKind::kMemory, "the machine has no room for a cache of {}: {}", format_size(static_cast<double>(size)),
         std::strerror(errno));
  }
  data_ = static_cast<std::uint8_t*>(memory);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), size_(other.size_), data_(std::exchange(other.data_, nullptr)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(data_, other.data_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_) ::munmap(data_, size_);
}

SharedMemory SharedMemory::create(std::uint64_t bytes) {
  FileDescriptor descriptor(::memfd_create("stoker-cache", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor) fail_system("create", "memory for a cache", errno);
  const std::uint64_t size = in_units(bytes, kPage);
  if (::ftruncate(descriptor.get(), static_cast<off_t>(size)) != 0) {
    fail_system("create", "memory for a cache", errno);
  }
  // Seals the size, on which processes that share it rely: access beyond a shorter file would raise a signal.
  if (::fcntl(descriptor.get(), F_ADD_SEALS, kSeals) != 0) fail_system("seal", "memory for a cache", errno);
  return SharedMemory(std::move(descriptor), size);
}

SharedMemory SharedMemory::attach(FileDescriptor descriptor) {
  struct stat facts;
  if (::fstat(descriptor.get(), &facts) != 0) fail_system("look at", "memory for a cache", errno);
  const int seals = ::fcntl(descriptor.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) fail(ErrorKind::kData, "another process offers no Stoker cache");
  return SharedMemory(std::move(descriptor), static_cast<std::uint64_t>(facts.st_size));
}

std::uint64_t SampleCache::overhead(std::int64_t samples) {
  return in_units(kUnit + static_cast<std::uint64_t>(samples) * sizeof(Entry), kPage);
}

SampleCache::SampleCache(SharedMemory memory, std::int64_t samples)
    : memory_(std::move(memory)), samples_(samples), begin_(overhead(samples)) {
  if (memory_.size() < begin_) {
    fail(ErrorKind::kMemory, "a cache of {} needs more than {}", counted(samples, "sample"),
         format_size(static_cast<double>(begin_)));
  }
  capacity_ = memory_.size() - begin_;
}

SampleCache::Entry& SampleCache::entry(std::int64_t sample) const {
  assert(sample >= 0 && sample < samples_);
  return reinterpret_cast<Entry*>(memory_.data() + kUnit)[sample];
}

std::optional<Bytes> SampleCache::find(std::int64_t sample, std::uint64_t bytes) const {
  const std::uint64_t found = entry(sample).load(std::memory_order_acquire);
  if (found < kReady) return std::nullopt;
  // Another process wrote this: values that do not fit are ignored.
  const std::uint64_t unit = found - kReady;
  if (bytes > capacity_ || unit > (capacity_ - bytes) / kUnit) return std::nullopt;
  return Bytes(memory_.data() + begin_ + unit * kUnit, bytes);
}

std::optional<MutableBytes> SampleCache::reserve(std::int64_t sample, std::uint64_t bytes) {
  Entry& wanted = entry(sample);
  if (bytes > capacity_) return std::nullopt;
  const std::uint64_t padded = in_units(bytes, kUnit);
  if (wanted.load(std::memory_order_relaxed) != kAbsent) return std::nullopt;
  std::atomic<std::uint64_t>& used = header().used;
  std::uint64_t offset = used.load(std::memory_order_relaxed);
  const auto fits = [&] { return padded <= capacity_ && offset <= capacity_ - padded; };
  if (!fits()) return std::nullopt;
  std::uint64_t absent = kAbsent;
  if (!wanted.compare_exchange_strong(absent, kWriting, std::memory_order_relaxed)) return std::nullopt;
  do {
    if (!fits()) {  // it was filled meanwhile
      wanted.store(kAbsent, std::memory_order_relaxed);
      return std::nullopt;
    }
  } while (!used.compare_exchange_weak(offset, offset + padded, std::memory_order_relaxed));
  return MutableBytes(memory_.data() + begin_ + offset, bytes);
}

void SampleCache::keep(std::int64_t sample, MutableBytes bytes) {
  const auto offset = static_cast<std::uint64_t>(bytes.data() - memory_.data()) - begin_;
  entry(sample).store(kReady + offset / kUnit, std::memory_order_release);
}

std::uint64_t SampleCache::used() const { return header().used.load(std::memory_order_relaxed); }

}  // namespace stoker
