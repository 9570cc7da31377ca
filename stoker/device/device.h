// The seam for what runs the stages behind the transfer index. Work is handed over in one piece per batch: copies, then
// launches of kernels, in that order; it is done later, and an event tells when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/device/launch.h"
#include "stoker/tensor/allocator.h"

namespace stoker {

struct DeviceCopy {
  std::uint8_t* to = nullptr;
  const std::uint8_t* from = nullptr;  // null: zeros
  std::size_t bytes = 0;
};

/// Everything the device does for one batch. The memory stays as it is until the event.
struct DeviceTask {
  std::vector<DeviceCopy> copies_in;   // from memory for staging to the device's
  std::vector<DeviceLaunch> launches;  // in order
  std::vector<DeviceCopy> copies_out;  // back, when these are done
};

/// When a task is done.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  /// Waits so long at most; whether it is done. Threads: any. Throws kIo if it could not be.
  virtual bool wait_for(std::int64_t patience_ns) const = 0;
  /// Waits until the device has no more use for the task's memory.
  virtual void wait_for_memory() const = 0;
  /// When it was done, or will be (base/clock.h), as far as is known.
  virtual std::int64_t done_ns() const = 0;
  /// How long its kernels took, once it is done; 0 if nobody measures.
  virtual std::int64_t busy_ns() const = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  /// As the user writes it: "emulated:execute", "cuda:0".
  virtual const std::string& name() const = 0;
  /// Whether what it leaves in its memory is what was asked for; the time is, in any case.
  virtual bool computes() const = 0;
  /// What there is to know about figures that come of it, in a sentence; empty if nothing.
  virtual std::string caveat() const = 0;
  /// Whether the host may look at its memory.
  virtual bool memory_is_host() const = 0;

  /// Where it is on the PCI bus ("0000:3b:00.0"); empty if it is on none.
  virtual std::string bus_id() const { return {}; }

  /// Host memory that copies to the device start from, and the device's own. Throw kMemory when there is no more.
  virtual Allocator& staging() = 0;
  virtual Allocator& memory() = 0;

  /// Hands a task over; they are done in the order in which they come. Threads: any, one at a time.
  virtual std::shared_ptr<DeviceEvent> submit(const DeviceTask& task) = 0;
};

/// By its name, "cuda:0", "emulated:execute" or "emulated:NAME". Throws kUsage for one that there is not, saying which
/// there are, and kNotFound for a GPU that is not here. Null for "cpu": there is none.
std::shared_ptr<Device> open_device(std::string_view name);

}  // namespace stoker
