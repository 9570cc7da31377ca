#include "stoker/storage/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {

OpenFile OpenFiles::File::open_buffered() const {
  OpenFile opened = open_file(path_, name_, {.direct = false, .random = options_.random});
  if (facts_) require_same_file(name_, *facts_, opened.facts);
  return opened;
}

int OpenFiles::default_capacity() {
  constexpr rlim_t kMost = 1024;
  rlimit limit{};
  const rlim_t allowed = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 256;
  return static_cast<int>(std::clamp<rlim_t>(allowed / 2, 1, kMost));
}

OpenFiles::OpenFiles(int capacity) : capacity_(capacity) { assert(capacity > 0); }

bool OpenFiles::acquire(File& file, Lease& lease, bool may_wait) {
  lease.file = &file;
  lease.descriptor = -1;
  Aftermath after;
  {
    const std::lock_guard lock(mutex_);
    // Those that wait come first, or a file in constant use would keep others waiting for ever.
    if (!waiting_.empty() || !grant(lease, after)) {
      if (may_wait) waiting_.push(lease);
      return false;
    }
  }
  after.run();
  finish(lease);
  return true;
}

void OpenFiles::finish(Lease& lease) {
  if (lease.descriptor < 0) open_now(lease);
}

/// Gives the lease its descriptor, or the right to open one; false when it has to wait.
bool OpenFiles::grant(Lease& lease, Aftermath& after) {
  File& file = *lease.file;
  if (!file.descriptor_) return reserve(after);
  if (file.leases_++ == 0) unlink(file);
  lease.descriptor = file.descriptor_.get();
  return true;
}

bool OpenFiles::reserve(Aftermath& after) {
  if (open_ < capacity_) {
    ++open_;
    return true;
  }
  if (idle_.empty()) return false;
  assert(!after.closing);
  File& evicted = *idle_.front();
  unlink(evicted);
  after.closing = std::exchange(evicted.descriptor_, FileDescriptor());
  return true;
}

void OpenFiles::serve_waiters(Aftermath& after) {
  // While a caller waits there is no room, so each change makes room for one to open its file, and for those that find
  // theirs open.
  while (!waiting_.empty() && grant(static_cast<Lease&>(*waiting_.front()), after)) after.ready.push(*waiting_.pop());
}

void OpenFiles::Aftermath::run() noexcept {
  closing = FileDescriptor();
  resume_in_turn(ready);
}

/// Opens the file, for which there is room reserved. Not under the lock, since it may take long: several may open one
/// file at once, of which one descriptor is kept.
void OpenFiles::open_now(Lease& lease) {
  File& file = *lease.file;
  Aftermath after;
  OpenFile opened;
  std::exception_ptr error = thrown_by([&] { opened = file.open(); });
  {
    const std::lock_guard lock(mutex_);
    if (!error) {
      if (!file.facts_) file.facts_ = opened.facts;
      error = thrown_by([&] { require_same_file(file.name_, *file.facts_, opened.facts); });
    }
    if (error || file.descriptor_) --open_;
    if (!error) {
      if (!file.descriptor_) {
        std::swap(file.descriptor_, opened.descriptor);
      } else if (file.leases_ == 0) {
        unlink(file);
      }
      ++file.leases_;
      lease.descriptor = file.descriptor_.get();
    }
    serve_waiters(after);
  }
  opened.descriptor = FileDescriptor();
  after.run();
  if (error) std::rethrow_exception(error);
}

void OpenFiles::release(Lease& lease) noexcept {
  Aftermath after;
  {
    const std::lock_guard lock(mutex_);
    File& file = *lease.file;
    lease.descriptor = -1;
    if (--file.leases_ == 0) link(file);
    serve_waiters(after);
  }
  after.run();
}

void OpenFiles::adopt(File& file, OpenFile opened) noexcept {
  Aftermath after;
  {
    const std::lock_guard lock(mutex_);
    assert(!file.facts_);
    file.facts_ = opened.facts;
    if (waiting_.empty() && reserve(after)) {
      file.descriptor_ = std::move(opened.descriptor);
      link(file);
    }
  }
  after.run();
}

void OpenFiles::forget(File& file) noexcept {
  Aftermath after;
  FileDescriptor closing;
  {
    const std::lock_guard lock(mutex_);
    assert(file.leases_ == 0);
    if (!file.descriptor_) return;
    unlink(file);
    closing = std::exchange(file.descriptor_, FileDescriptor());
    --open_;
    serve_waiters(after);
  }
  closing = FileDescriptor();
  after.run();
}

}  // namespace stoker
