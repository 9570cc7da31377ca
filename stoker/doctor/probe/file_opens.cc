#include "stoker/doctor/probe/file_opens.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <mutex>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/storage/posix_file.h"

namespace stoker {
namespace {

// Systems write what was changed after this time at the latest.
constexpr std::time_t kOnDiskAfterS = 300;

FileDescriptor open_or_fail(const DataFiles::File& file) {
  FileDescriptor descriptor = open_for_reading(AT_FDCWD, file.path.c_str());
  if (!descriptor) fail_system("open", file.path, errno);
  return descriptor;
}

/// Tasks that share a list of files.
class OpenRun {
 public:
  OpenRun(std::span<const DataFiles::File> files, std::int64_t most_ns)
      : files_(files), began_ns_(now_ns()), most_ns_(most_ns) {}

  TimedOpens run(Executor& executor, int at_once) {
    under_way_ = at_once;
    for (int i = 0; i < at_once; ++i) executor.submit({&OpenRun::work, this});
    std::unique_lock lock(mutex_);
    all_ended_.wait(lock, [&] { return under_way_ == 0; });
    if (error_) std::rethrow_exception(error_);
    return {.files = opened_, .ns = now_ns() - began_ns_};
  }

 private:
  static void work(void* context) noexcept {
    auto& run = *static_cast<OpenRun*>(context);
    const std::exception_ptr error = thrown_by([&] { run.open_some(); });
    const std::lock_guard lock(run.mutex_);
    if (error && !run.error_) run.error_ = error;
    if (--run.under_way_ == 0) run.all_ended_.notify_one();
  }

  void open_some() {
    while (now_ns() - began_ns_ < most_ns_) {
      const std::size_t next = next_.fetch_add(1);
      if (next >= files_.size()) return;
      const FileDescriptor file = open_or_fail(files_[next]);
      struct stat facts {};
      if (::fstat(file.get(), &facts) != 0) fail_system("look at", files_[next].path, errno);
      ++opened_;
    }
  }

  const std::span<const DataFiles::File> files_;
  const std::int64_t began_ns_, most_ns_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::int64_t> opened_ = 0;
  std::mutex mutex_;
  std::condition_variable all_ended_;
  int under_way_ = 0;  // guarded by mutex_ once the tasks run
  std::exception_ptr error_;
};

}  // namespace

TimedOpens time_opens(std::span<const DataFiles::File> files, Executor& executor, int at_once, std::int64_t most_ns) {
  return OpenRun(files, most_ns).run(executor, at_once);
}

void drop_from_page_cache(const DataFiles::File& file) {
  const FileDescriptor descriptor = open_or_fail(file);
  // Pages that were written, but not to the disk, would stay: those of the last half minute, and some time. What a file
  // system refuses here changes only what is measured.
  struct stat facts {};
  if (::fstat(descriptor.get(), &facts) != 0 || std::time(nullptr) - facts.st_mtim.tv_sec < kOnDiskAfterS) {
    ::fdatasync(descriptor.get());
  }
  ::posix_fadvise(descriptor.get(), 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace stoker
