#include "stoker/runtime/held_device_testing.h"

#include <algorithm>
#include <chrono>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"

namespace stoker {

struct HeldDevice::Mark final : StreamMark {
  void wait() const override { done.wait(false); }
  std::optional<std::int64_t> ns_since(const StreamMark& earlier) const override {
    if (!done) return std::nullopt;
    return at_ns - static_cast<const Mark&>(earlier).at_ns;
  }

  std::atomic<bool> done{false};
  std::atomic<std::int64_t> at_ns{0};
};

struct HeldDevice::Event final : DeviceEvent {
  void finish() {
    const std::lock_guard lock(mutex);
    at_ns = now_ns();
    finished.notify_all();
  }
  bool wait_for(std::int64_t patience_ns) const override {
    std::unique_lock lock(mutex);
    return finished.wait_for(lock, std::chrono::nanoseconds(patience_ns), [&] { return at_ns != 0; });
  }
  void wait_for_memory() const override {
    std::unique_lock lock(mutex);
    finished.wait(lock, [&] { return at_ns != 0; });
  }
  std::int64_t done_ns() const override {
    const std::lock_guard lock(mutex);
    return at_ns != 0 ? at_ns : now_ns();
  }
  StageTimes stages_ns() const override {
    StageTimes times{};
    times[kDeviceDecodeRun] = 111;
    return times;
  }

  mutable std::mutex mutex;
  mutable std::condition_variable finished;
  std::int64_t at_ns = 0;
};

std::uint8_t* HeldDevice::CountingAllocator::allocate(std::size_t bytes) {
  if (device.allocations_left.fetch_sub(1) <= 0) fail(ErrorKind::kMemory, "the device has no memory left");
  allocated += static_cast<std::int64_t>(bytes);
  return host_allocator().allocate(bytes);
}

void HeldDevice::CountingAllocator::deallocate(std::uint8_t* memory, std::size_t bytes) noexcept {
  allocated -= static_cast<std::int64_t>(bytes);
  host_allocator().deallocate(memory, bytes);
}

HeldDevice::HeldDevice(std::uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}

void HeldDevice::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void HeldDevice::go_on() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  run_what_may();
}

void HeldDevice::before_running(std::function<void(const DeviceTask&)> look) {
  const std::lock_guard lock(mutex_);
  before_running_ = std::move(look);
}

int HeldDevice::waiting() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(waiting_.size());
}

void HeldDevice::occupy(DeviceStream stream) {
  const std::lock_guard lock(mutex_);
  occupied_.try_emplace(stream);
}

void HeldDevice::finish(DeviceStream stream) {
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<Mark>& mark : occupied_[stream]) {
    mark->at_ns = now_ns();
    mark->done = true;
  }
  occupied_.erase(stream);
  run_what_may();
}

int HeldDevice::waits(DeviceStream stream) const {
  const std::lock_guard lock(mutex_);
  const auto found = waits_.find(stream);
  return found == waits_.end() ? 0 : found->second;
}

std::shared_ptr<DeviceEvent> HeldDevice::submit(const DeviceTask& task,
                                                std::span<const std::shared_ptr<const StreamMark>> after) {
  auto event = std::make_shared<Event>();
  const std::lock_guard lock(mutex_);
  waiting_.push_back({task, {after.begin(), after.end()}, event});
  run_what_may();
  return event;
}

// In the order in which they came.
void HeldDevice::run_what_may() {
  const auto done = [](const auto& mark) { return static_cast<const Mark&>(*mark).done.load(); };
  while (!held_ && !waiting_.empty() &&
         std::all_of(waiting_.front().after.begin(), waiting_.front().after.end(), done)) {
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    if (before_running_) before_running_(next.task);
    ForwardingDevice::submit(next.task, {});
    next.event->finish();
  }
}

void HeldDevice::make_wait(DeviceStream stream, const DeviceEvent&) {
  const std::lock_guard lock(mutex_);
  ++waits_[stream];
}

std::shared_ptr<const StreamMark> HeldDevice::mark(DeviceStream stream) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = occupied_.find(stream);
  if (found == occupied_.end()) return nullptr;
  found->second.push_back(std::make_shared<Mark>());
  return found->second.back();
}

}  // namespace stoker
