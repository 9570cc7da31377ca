#include "stoker/storage/faulty_source_testing.h"

#include <cassert>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/random.h"

namespace stoker {

FaultySource::FaultySource(std::shared_ptr<Source> inner, FaultyOptions options)
    : inner_(std::move(inner)), options_(std::move(options)), holding_(options_.hold) {}

FaultySource::~FaultySource() { release_all(); }

void FaultySource::start(ReadRequest& request) {
  Held read;
  {
    std::lock_guard lock(mutex_);
    read = {&request, started_++};
    if (holding_) {
      held_.push_back(read);
      changed_.notify_all();
      return;
    }
  }
  go_on(read);
}

std::int64_t FaultySource::started() const {
  const std::lock_guard lock(mutex_);
  return started_;
}

void FaultySource::begin_again(FaultyOptions options) {
  const std::lock_guard lock(mutex_);
  options_ = std::move(options);
  holding_ = options_.hold;
  started_ = 0;
  broken_.clear();
}

void FaultySource::wait_until_held(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return held_.size() >= count; });
}

void FaultySource::release(std::size_t index) {
  Held read;
  {
    std::lock_guard lock(mutex_);
    assert(index < held_.size());
    read = held_[index];
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  go_on(read);
}

void FaultySource::release_all() {
  std::vector<Held> released;
  {
    std::lock_guard lock(mutex_);
    holding_ = false;
    released.swap(held_);
  }
  for (const Held& read : released) go_on(read);
}

bool FaultySource::fails(const Held& read) {
  Random random(options_.seed, 0, static_cast<std::uint64_t>(read.number), 0);
  const bool now = options_.fail_reads.contains(read.number) || random.uniform() < options_.fail_probability;
  if (!options_.for_good) return now;
  const std::pair range{std::string(read.request->part), read.request->offset};
  const std::lock_guard lock(mutex_);
  if (now) broken_.insert(range);
  return broken_.contains(range);
}

void FaultySource::go_on(Held held) {
  ReadRequest& request = *held.request;
  try {
    if (!fails(held)) return inner_->start(request);
    fail(ErrorKind::kIo, "cannot read '{}': injected fault in read {}", name(), held.number);
  } catch (...) {  // also what a test that leaves us no memory does to us
    request.error = std::current_exception();
  }
  request.done(request);
}

}  // namespace stoker
