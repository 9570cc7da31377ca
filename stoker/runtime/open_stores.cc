#include "stoker/runtime/open_stores.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/machine.h"
#include "stoker/runtime/thread_pool.h"
#include "stoker/storage/hf/hf_store.h"
#include "stoker/storage/http/http_store.h"
#include "stoker/storage/s3/s3_store.h"
#include "stoker/storage/uring_io.h"

namespace stoker {
namespace {

// Reads in flight at once. These keep an NVMe drive or a network disk busy with image-sized reads; a thread that waits
// for the disk costs nothing else. Beside io_uring threads read loose files only.
constexpr int kReadThreads = 32, kReadThreadsBesideUring = 16;
constexpr int kReadsQueued = 1024;

/// Threads that decompress blocks: as many as there are CPUs, since a window's blocks are wanted at once.
int block_thread_count() { return std::min(usable_cores(), 8); }

/// Null where io_uring does not work and need not.
std::shared_ptr<FileIo> make_uring(IoKind kind) {
  if (kind == IoKind::kPread) return nullptr;
  try {
    if (const std::string why = UringIo::why_not(); !why.empty()) throw Error(ErrorKind::kIo, why);
    return make_shared_at_home<UringIo>(make_shared_at_home<ThreadPool>("stoker-uring", 1, 1));
  } catch (const Error& error) {
    if (kind == IoKind::kUring) throw error.with_context("cannot read by io_uring");
    return nullptr;
  }
}

}  // namespace

void add_remote_stores(Stores& stores, const StoreOptions& options, const std::stop_token& stop) {
  HttpOptions http = HttpOptions::from_environment();
  http.stop = stop;
  const auto transport = make_shared_at_home<HttpTransport>(
      std::move(http), [] { return make_shared_at_home<ThreadPool>("stoker-http", 1, 1); });
  // Which share connections and their thread.
  for (const char* scheme : {"http", "https"}) stores.add(std::make_shared<HttpStore>(scheme, transport));
  for (const char* scheme : {"s3", "gs"}) {
    stores.add(std::make_shared<S3Store>(scheme, options, process_environment(), transport));
  }
  stores.add(std::make_shared<HfStore>(
      transport, [anonymous = options.anonymous] { return HfAccess::from(process_environment(), anonymous); }));
}

FileAccess open_file_access(const OpenOptions& options) {
  const std::shared_ptr<FileIo> uring = make_uring(options.io);
  const int count = uring ? kReadThreadsBesideUring : kReadThreads;
  const auto threads = make_shared_at_home<ThreadPool>("stoker-read", count, kReadsQueued);
  FileAccess access = uring ? FileAccess(threads, uring) : FileAccess(threads);
  access.direct = options.direct;
  return access;
}

Stores open_stores(const OpenOptions& options, const std::stop_token& stop) {
  Stores stores(open_file_access(options));
  stores.decompress_on(
      [] { return make_shared_at_home<ThreadPool>("stoker-blocks", block_thread_count(), kReadsQueued); });
  add_remote_stores(stores, options.store, stop);
  return stores;
}

}  // namespace stoker
