#include "stoker/runtime/open.h"

#include "stoker/base/user_cache.h"
#include "stoker/base/words.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/runtime/thread_pool.h"
#include "stoker/storage/uring_io.h"

namespace stoker {
namespace {

constexpr Word<IoKind> kIoKinds[] = {{IoKind::kAuto, "auto"}, {IoKind::kUring, "uring"}, {IoKind::kPread, "pread"}};

// Reads in flight at once. These keep an NVMe drive or a network disk busy with image-sized reads; a thread that waits
// for the disk costs nothing else. Beside io_uring threads read loose files only.
constexpr int kReadThreads = 32, kReadThreadsBesideUring = 16;
constexpr int kReadsQueued = 1024;
constexpr int kOpenThreads = 8;

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

Stores make_stores(const OpenOptions& options) {
  const std::shared_ptr<FileIo> uring = make_uring(options.io);
  const int count = uring ? kReadThreadsBesideUring : kReadThreads;
  const auto threads = make_shared_at_home<ThreadPool>("stoker-read", count, kReadsQueued);
  FileAccess access = uring ? FileAccess(threads, uring) : FileAccess(threads);
  access.direct = options.direct;
  return access;
}

}  // namespace

std::string_view to_string(IoKind kind) { return word_of(kIoKinds, kind); }

IoKind parse_io(std::string_view name) { return value_of(kIoKinds, name, "not a way to read"); }

std::shared_ptr<const Dataset> open(const std::vector<std::string>& data, const std::stop_token& stop,
                                    const OpenOptions& options) {
  const IndexOptions index{
      .use = options.use_indexes, .folder = options.index_folder, .cache_folder = user_cache_folder()};
  // Opening a shard mostly waits, for its index or for the headers of its members.
  ThreadPool opening("stoker-open", kOpenThreads, kReadsQueued);
  return open_dataset(data, make_stores(options), index, stop, &opening);
}

std::shared_ptr<const Dataset> open(const std::string& data, const std::stop_token& stop, const OpenOptions& options) {
  return open(std::vector{data}, stop, options);
}

}  // namespace stoker
