// The seam for devices, which run the stages after the transfer index. Each batch is submitted as one piece of work:
// copies, then launches of kernels, and files for nvJPEG in between, in that order; the device does it later, and an
// event tells when it is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
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

/// A JPEG for nvJPEG to decode, whole, to planes of the file's own resolution.
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

/// Everything the device does for one batch. The memory must not change until the event.
struct DeviceTask {
  std::vector<DeviceCopy> copies_in;   // from memory for staging to the device's
  std::vector<DeviceLaunch> launches;  // in order
  std::vector<DeviceDecode> decodes;   // the same; none follows the last launch
  std::vector<DeviceCopy> copies_out;  // back, when these are done

  /// Calls one of the two for each launch and decode, in order.
  template <class Decode, class Launch>
  void in_order(Decode decode, Launch launch) const {
    auto next = decodes.begin();
    for (std::size_t i = 0; i < launches.size(); ++i) {
      for (; next != decodes.end() && next->before_launch == i; ++next) decode(*next);
      launch(launches[i]);
    }
  }
};

/// The work of a kernel and of nvJPEG, of kStageRuns.
std::size_t stage_run_of(const DeviceLaunch& launch);
inline constexpr std::size_t kDeviceDecodeRun = stage_run(StageSide::kDevice, Stage::kDecode);

/// The completion of a task.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  /// Waits at most this long; returns whether the task is done. Threads: any. Throws kIo if it can no longer complete.
  virtual bool wait_for(std::int64_t patience_ns) const = 0;
  /// Waits until the device no longer uses the task's memory.
  virtual void wait_for_memory() const = 0;
  /// The time at which it was or will be done (base/clock.h), if known.
  virtual std::int64_t done_ns() const = 0;
  /// The time of its kernels in nanoseconds, once it is done; 0 if it is not measured.
  virtual StageTimes stages_ns() const = 0;
  std::int64_t busy_ns() const {
    const StageTimes times = stages_ns();
    return std::accumulate(times.begin(), times.end(), std::int64_t{0});
  }
};

/// A point in a consumer's stream, after the work submitted so far.
class StreamMark {
 public:
  virtual ~StreamMark() = default;
  /// Waits until the stream has reached it.
  virtual void wait() const = 0;
  /// The time between another mark and this one, in nanoseconds; unset if it is not known, or not yet. Does not wait.
  virtual std::optional<std::int64_t> ns_since(const StreamMark&) const { return std::nullopt; }
};

class Device {
 public:
  virtual ~Device() = default;

  /// As the user writes it: "emulated:execute", "cuda:0".
  virtual const std::string& name() const = 0;
  /// Whether it really computes its results; its times are valid in any case.
  virtual bool computes() const = 0;
  /// A caveat about figures measured with it, in a sentence; empty if there is none.
  virtual std::string caveat() const = 0;
  /// Whether the host may read its memory. If not, batches are delivered while work on them continues.
  virtual bool memory_is_host() const = 0;
  /// The size of its own memory; 0: it uses the host's.
  virtual std::uint64_t memory_bytes() const { return 0; }
  /// Its CUDA number; -1 if it is not a CUDA device.
  virtual int gpu() const { return -1; }

  /// Its PCI bus id ("0000:3b:00.0"); empty if it has none.
  virtual std::string bus_id() const { return {}; }

  /// Host memory that copies to the device start from, and device memory. Both throw kMemory when there is none left.
  virtual Allocator& staging() = 0;
  virtual Allocator& memory() = 0;
  /// Memory of the device, of so many bytes at least, for what launches of a task leave to later ones of the same task:
  /// tasks run one after another, so that all of them may use the same. Threads: any. Throws kMemory.
  std::shared_ptr<const Memory> scratch(std::size_t bytes);

  /// Call it before the first task with files for nvJPEG. Throws kNotFound if there is no nvJPEG.
  virtual void open_nvjpeg() = 0;

  /// Submits a task; tasks run in the order of submission, and this one after the marks. Threads: any.
  virtual std::shared_ptr<DeviceEvent> submit(const DeviceTask& task,
                                              std::span<const std::shared_ptr<const StreamMark>> after) = 0;
  /// Copies from its memory to the host's after all submitted tasks, and waits for the copy.
  virtual void fetch(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) = 0;

  /// Makes work submitted to a consumer's stream from now on wait for the task.
  virtual void make_wait(DeviceStream stream, const DeviceEvent& task) = 0;
  /// A mark after all work submitted to the stream so far. Null if that work is done.
  virtual std::shared_ptr<const StreamMark> mark(DeviceStream stream) noexcept = 0;

 private:
  std::mutex scratch_mutex_;
  std::weak_ptr<const Memory> scratch_;  // of those that are in use, the one that was made last
};

}  // namespace stoker
