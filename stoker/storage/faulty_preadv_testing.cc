#include "stoker/storage/faulty_preadv_testing.h"

#include <cerrno>
#include <mutex>
#include <optional>

#include "stoker/base/random.h"

namespace stoker {
namespace {

std::mutex g_mutex;
PreadvFaults g_faults;
std::int64_t g_calls = 0;

/// What befalls the next call, if anything does.
std::optional<PreadvFaults::Kind> next_fault() {
  const std::lock_guard lock(g_mutex);
  const std::int64_t number = g_calls++;
  if (number == g_faults.number || (g_faults.for_good && number > g_faults.number)) return g_faults.kind;
  Random random(g_faults.seed, 0, static_cast<std::uint64_t>(number), 0);
  if (random.uniform() < g_faults.error_probability) return PreadvFaults::Kind::kError;
  if (random.uniform() < g_faults.short_probability) return PreadvFaults::Kind::kShort;
  return std::nullopt;
}

ssize_t refuse(int error) {
  errno = error;
  return -1;
}

ssize_t read_half(int fd, const iovec* entries, off_t offset) {
  iovec first = entries[0];
  first.iov_len = (first.iov_len + 1) / 2;
  return ::preadv(fd, &first, 1, offset);
}

}  // namespace

void set_preadv_faults(const PreadvFaults& faults) {
  const std::lock_guard lock(g_mutex);
  g_faults = faults;
  g_calls = 0;
}

std::int64_t preadv_calls() {
  const std::lock_guard lock(g_mutex);
  return g_calls;
}

ssize_t faulty_preadv(int fd, const iovec* entries, int count, off_t offset) {
  const std::optional<PreadvFaults::Kind> fault = next_fault();
  if (!fault) return ::preadv(fd, entries, count, offset);
  switch (*fault) {
    case PreadvFaults::Kind::kError: return refuse(EIO);
    case PreadvFaults::Kind::kShort: return read_half(fd, entries, offset);
    case PreadvFaults::Kind::kInterrupted: return refuse(EINTR);
    case PreadvFaults::Kind::kEnd: break;
  }
  return 0;
}

}  // namespace stoker
