// Stoker's stores without its loader: reads objects by blocks of one size, a number of them at a time.
//
//   bench_remote_blocks IN_FLIGHT BLOCK SECONDS URL...
//
// It reads all of the objects once or until the time is over, and prints what it did as JSON.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/runtime/open_stores.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

struct Block {
  ReadRequest request{};
  std::vector<std::uint8_t> memory{};
  MutableBytes piece{};
  class BlockReader* reader = nullptr;
};

class BlockReader {
 public:
  BlockReader(std::vector<std::shared_ptr<Source>> sources, std::uint64_t block)
      : sources_(std::move(sources)), block_(block) {}

  void read(int in_flight, std::int64_t deadline_ns) {
    for (int i = 0; i < in_flight; ++i) {
      Block& block = blocks_.emplace_back();
      block.memory.resize(block_);
      block.reader = this;
      free_.push_back(&block);
    }
    const auto more = [&] { return source_ < sources_.size() && now_ns() < deadline_ns && !error_; };
    std::unique_lock lock(mutex_);
    while (more()) {
      changed_.wait(lock, [this] { return !free_.empty(); });
      while (!free_.empty() && more()) {
        Block& block = *free_.back();
        free_.pop_back();
        lock.unlock();
        start(block);
        lock.lock();
      }
    }
    changed_.wait(lock, [this] { return free_.size() == blocks_.size(); });
    if (error_) std::rethrow_exception(error_);
  }

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t requests() const { return requests_; }

 private:
  void start(Block& block) {
    Source& source = *sources_[source_];
    const std::uint64_t size = source.size();
    const std::uint64_t length = std::min(block_, size - offset_);
    block.piece = MutableBytes(block.memory).first(length);
    block.request.offset = offset_;
    block.request.into = {&block.piece, 1};
    block.request.context = &block;
    block.request.done = [](ReadRequest& request) noexcept {
      auto& ended = *static_cast<Block*>(request.context);
      ended.reader->take_back(ended);
    };
    bytes_ += length;
    ++requests_;
    offset_ += length;
    if (offset_ == size) {
      offset_ = 0;
      ++source_;
    }
    source.start(block.request);
  }

  void take_back(Block& block) {
    const std::lock_guard lock(mutex_);
    if (block.request.error) error_ = block.request.error;
    free_.push_back(&block);
    changed_.notify_one();
  }

  const std::vector<std::shared_ptr<Source>> sources_;
  const std::uint64_t block_;
  std::deque<Block> blocks_;
  std::size_t source_ = 0;
  std::uint64_t offset_ = 0, bytes_ = 0, requests_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Block*> free_;
  std::exception_ptr error_;
};

template <typename Number>
Number number_of(std::string_view text) {
  const auto number = parse_number<Number>(text);
  if (!number) fail(ErrorKind::kUsage, "'{}' is not a number", text);
  return *number;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void run(int count, char** arguments) {
  if (count < 5) fail(ErrorKind::kUsage, "usage: bench_remote_blocks IN_FLIGHT BLOCK SECONDS URL...");
  const Stores stores = open_stores();
  std::vector<std::shared_ptr<Source>> sources;
  for (int i = 4; i < count; ++i) sources.push_back(stores.open(Location(arguments[i])));
  BlockReader reader(std::move(sources), number_of<std::uint64_t>(arguments[2]));
  const std::int64_t began = now_ns();
  const double cpu = cpu_seconds();
  reader.read(number_of<int>(arguments[1]), began + static_cast<std::int64_t>(1e9 * number_of<double>(arguments[3])));
  std::cout << fmt::format("{{\"bytes\": {}, \"requests\": {}, \"seconds\": {}, \"cpu_seconds\": {}}}\n",
                           reader.bytes(), reader.requests(), 1e-9 * static_cast<double>(now_ns() - began),
                           cpu_seconds() - cpu);
}

}  // namespace
}  // namespace stoker

int main(int count, char** arguments) {
  try {
    stoker::run(count, arguments);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench_remote_blocks: " << error.what() << '\n';
    return 1;
  }
}
