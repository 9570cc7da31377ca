// A device that behaves like a GPU: the host must not read its memory, batches are delivered while it still works on
// them, and consumers have streams. It continues when a test says so, and computes like the emulated one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stoker/device/forwarding_device_testing.h"

namespace stoker {

class HeldDevice final : public ForwardingDevice {
 public:
  explicit HeldDevice(std::uint64_t memory_bytes = 0);

  /// Tasks that come from now on wait.
  void hold();
  /// They do no more.
  void go_on();
  int waiting() const;

  /// From now on a stream has work that is not done; until it is.
  void occupy(DeviceStream stream);
  void finish(DeviceStream stream);
  /// How often work of a stream was made to wait for a task.
  int waits(DeviceStream stream) const;

  /// From now on this is called with each task before it runs, one after the other; nothing for an empty one.
  void before_running(std::function<void(const DeviceTask&)> look);
  /// Allocations that succeed from now on.
  std::atomic<int> allocations_left{1 << 30};
  std::int64_t allocated() const { return memory_.allocated; }

  const std::string& name() const override { return name_; }
  bool memory_is_host() const override { return false; }
  std::uint64_t memory_bytes() const override { return memory_bytes_; }
  int gpu() const override { return 0; }
  Allocator& memory() override { return memory_; }
  std::shared_ptr<DeviceEvent> submit(const DeviceTask& task,
                                      std::span<const std::shared_ptr<const StreamMark>> after) override;
  void make_wait(DeviceStream stream, const DeviceEvent& task) override;
  std::shared_ptr<const StreamMark> mark(DeviceStream stream) noexcept override;

 private:
  struct Mark;
  struct Event;
  struct Waiting {
    DeviceTask task;
    std::vector<std::shared_ptr<const StreamMark>> after;
    std::shared_ptr<Event> event;
  };
  struct CountingAllocator final : Allocator {
    explicit CountingAllocator(HeldDevice& of) : device(of) {}
    std::uint8_t* allocate(std::size_t bytes) override;
    void deallocate(std::uint8_t* memory, std::size_t bytes) noexcept override;

    HeldDevice& device;
    std::atomic<std::int64_t> allocated{0};
  };

  void run_what_may();

  const std::string name_ = "held:0";
  const std::uint64_t memory_bytes_;
  CountingAllocator memory_{*this};
  mutable std::mutex mutex_;
  bool held_ = false;
  std::function<void(const DeviceTask&)> before_running_;
  std::deque<Waiting> waiting_;
  std::map<DeviceStream, std::vector<std::shared_ptr<Mark>>> occupied_;
  std::map<DeviceStream, int> waits_;
};

}  // namespace stoker
