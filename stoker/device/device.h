// The seam for devices, which run the stages after the transfer index. Each batch is submitted as one piece of work:
// copies, then launches of kernels, and files for nvJPEG in between, in that order; the device does it later, and an
// event tells when it is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/device/launch.h"
#include "stoker/device/open_device.h"
#include "stoker/ops/stage.h"
#include "stoker/tensor/allocator.h"
#include "stoker/tensor/batch.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

struct DeviceCopy {
  std::uint8_t* to = nullptr;
  const std::uint8_t* from = nullptr;  // null: zeros
  std::size_t bytes = 0;
};

/// A JPEG that nvJPEG is to decode, whole, to planes as fine as the file has them.
struct DeviceDecode {
  struct Plane {
    std::uint8_t* samples = nullptr;  // in the device's memory
    std::size_t row_stride = 0;
    int width = 0, height = 0;
  };
  Bytes file;  // in memory for staging: nvJPEG begins on the host
  ImageFacts facts;
  int plane_count = 0;  // 1: grey; 3: Y, Cb, Cr
  Plane plane[3];
  std::uint32_t* fault = nullptr;  // a word in the device's memory: no longer 0 if it refuses the file
  std::size_t before_launch = 0;   // of the task's launches this one comes next
};

/// Everything the device does for one batch. The memory stays as it is until the event.
struct DeviceTask {
  std::vector<DeviceCopy> copies_in;   // from memory for staging to the device's
  std::vector<DeviceLaunch> launches;  // in order
  std::vector<DeviceDecode> decodes;   // likewise; there are none behind the last launch
  std::vector<DeviceCopy> copies_out;  // back, when these are done

  /// Calls the one or the other for all launches and decodes, in their order.
  template <class Decode, class Launch>
  void in_order(Decode decode, Launch launch) const {
    auto next = decodes.begin();
    for (std::size_t i = 0; i < launches.size(); ++i) {
      for (; next != decodes.end() && next->before_launch == i; ++next) decode(*next);
      launch(launches[i]);
    }
  }
};

/// What a kernel and nvJPEG do, of kStageRuns.
std::size_t stage_run_of(const DeviceLaunch& launch);
inline constexpr std::size_t kDeviceDecodeRun = stage_run(StageSide::kDevice, Stage::kDecode);

/// When a task is done.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  /// Waits so long at most; whether it is done. Threads: any. Throws kIo if it cannot be any more.
  virtual bool wait_for(std::int64_t patience_ns) const = 0;
  /// Waits until the device has no more use for the task's memory.
  virtual void wait_for_memory() const = 0;
  /// When it was done, or will be (base/clock.h), as far as is known.
  virtual std::int64_t done_ns() const = 0;
  /// How long its kernels took, in nanoseconds, once it is done; 0 if nobody measures.
  virtual StageTimes stages_ns() const = 0;
  std::int64_t busy_ns() const {
    const StageTimes times = stages_ns();
    return std::accumulate(times.begin(), times.end(), std::int64_t{0});
  }
};

/// A point in a stream of a consumer: what it was given before.
class StreamMark {
 public:
  virtual ~StreamMark() = default;
  /// Waits until that is done.
  virtual void wait() const = 0;
  /// How long after another mark it was reached, in nanoseconds; unset where that is not known, or not yet. Does not
  /// wait.
  virtual std::optional<std::int64_t> ns_since(const StreamMark&) const { return std::nullopt; }
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
  /// Whether the host may look at its memory. Where it may not, batches are handed on while work on them goes on.
  virtual bool memory_is_host() const = 0;
  /// What memory it has of its own; 0: the host's.
  virtual std::uint64_t memory_bytes() const { return 0; }
  /// CUDA's number of it; -1 if it is none of CUDA's.
  virtual int gpu() const { return -1; }

  /// Where it is on the PCI bus ("0000:3b:00.0"); empty if it is on none.
  virtual std::string bus_id() const { return {}; }

  /// Host memory that copies to the device start from, and the device's own. Throw kMemory when there is no more.
  virtual Allocator& staging() = 0;
  virtual Allocator& memory() = 0;

  /// Before the first task with files for nvJPEG. Throws kNotFound where there is no nvJPEG.
  virtual void open_nvjpeg() = 0;

  /// Hands a task over; they are done in the order in which they come, and this one after the marks. Threads: any.
  virtual std::shared_ptr<DeviceEvent> submit(const DeviceTask& task,
                                              std::span<const std::shared_ptr<const StreamMark>> after) = 0;
  /// Copies from its memory to the host's, once tasks that were handed over are done, and waits for that.
  virtual void fetch(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) = 0;

  /// What a consumer's stream is given from now on is done after the task.
  virtual void make_wait(DeviceStream stream, const DeviceEvent& task) = 0;
  /// A mark behind what it was given so far. Null if all of that is done.
  virtual std::shared_ptr<const StreamMark> mark(DeviceStream stream) noexcept = 0;
};

}  // namespace stoker
