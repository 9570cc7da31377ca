#include "stoker/runtime/open.h"

#include "stoker/base/user_cache.h"
#include "stoker/runtime/thread_pool.h"

namespace stoker {
namespace {

// Reads in flight at once. Sixteen keep an NVMe drive or a network disk busy with image-sized reads; a thread that
// waits for the disk costs nothing else.
constexpr int kReadThreads = 16;
constexpr int kReadsQueued = 1024;

}  // namespace

std::shared_ptr<const Dataset> open(const std::vector<std::string>& data, const std::stop_token& stop) {
  return open_dataset(data, make_shared_at_home<ThreadPool>("stoker-read", kReadThreads, kReadsQueued),
                      {.cache_folder = user_cache_folder()}, stop);
}

std::shared_ptr<const Dataset> open(const std::string& data, const std::stop_token& stop) {
  return open(std::vector{data}, stop);
}

}  // namespace stoker
