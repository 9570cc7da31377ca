#include "stoker/storage/source.h"

#include <condition_variable>
#include <mutex>

#include "stoker/base/error.h"

namespace stoker {
namespace {

class Arrival {
 public:
  void arrive() noexcept {
    std::lock_guard lock(mutex_);
    arrived_ = true;
    condition_.notify_one();  // under the lock: the waiter destroys this object as soon as it may go on
  }

  void wait() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return arrived_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool arrived_ = false;
};

}  // namespace

std::unique_ptr<Folder> Source::list(std::string_view /*part*/) const {
  fail(ErrorKind::kUsage, "'{}' is a file, but a folder is needed", name());
}

void Source::will_need(std::uint64_t /*offset*/, std::uint64_t /*length*/, std::string_view /*part*/) {}

void read_fully(Source& source, std::uint64_t offset, MutableBytes into, std::string_view part) {
  Arrival arrival;
  ReadRequest request;
  request.part = part;
  request.offset = offset;
  request.into = Segments(&into, 1);
  request.context = &arrival;
  request.done = [](ReadRequest& finished) noexcept { static_cast<Arrival*>(finished.context)->arrive(); };
  source.start(request);
  arrival.wait();
  if (request.error) std::rethrow_exception(request.error);
}

std::string read_whole(Source& source) {
  std::string text(source.size(), '\0');
  read_fully(source, 0, MutableBytes(reinterpret_cast<std::uint8_t*>(text.data()), text.size()));
  return text;
}

}  // namespace stoker
