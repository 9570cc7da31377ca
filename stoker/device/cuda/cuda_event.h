// Tells when a GPU has finished its work: one of our tasks, or the work in a consumer's stream before a point.
#pragma once

#include <bit>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stoker/device/cuda/cuda_check.h"
#include "stoker/device/device.h"

namespace stoker {

/// Made where OnGpu is. The streams record: first that copies are there, then which stage's kernels begin and when the
/// last end, then the end.
class CudaTaskEvent final : public DeviceEvent {
 public:
  explicit CudaTaskEvent(std::shared_ptr<const GpuContext> gpu);

  /// What the stream is given from now on is this one's, of kStageRuns.
  void begin_stage(std::size_t run, cudaStream_t stream);
  /// And from here on none's.
  void end_stages(cudaStream_t stream);

  /// After the end, in a stream that nothing else waits for: the host is told.
  void tell_host(cudaStream_t stream);

  bool wait_for(std::int64_t patience_ns) const override;
  void wait_for_memory() const override;
  std::int64_t done_ns() const override;
  StageTimes stages_ns() const override;

 private:
  // What the host hears; it lives until it did.
  struct Notice {
    std::mutex mutex;
    std::condition_variable heard;
    std::int64_t done_ns = 0;
  };
  static void hear(void* notice);
  struct Turn {
    std::size_t run;
    std::unique_ptr<GpuEvent> began;
  };
  void record(std::size_t run, cudaStream_t stream);

  const std::shared_ptr<const GpuContext> gpu_;
  const std::shared_ptr<Notice> notice_ = std::make_shared<Notice>();
  std::vector<Turn> turns_;  // of the stages, in time

 public:
  const GpuEvent copied, done;
};

class CudaStreamMark final : public StreamMark {
 public:
  CudaStreamMark(std::shared_ptr<const GpuContext> gpu, cudaStream_t stream)
      : gpu_(std::move(gpu)), event(*gpu_, cudaEventBlockingSync) {
    const OnGpu on(*gpu_);
    check_cuda(cudaEventRecord(event, stream), gpu_->name());
  }

  void wait() const override {
    quietly_on_gpu(*gpu_, [&] { cudaEventSynchronize(event); });
  }
  std::optional<std::int64_t> ns_since(const StreamMark& earlier) const override;

 private:
  const std::shared_ptr<const GpuContext> gpu_;

 public:
  const GpuEvent event;
};

inline cudaStream_t handle_of(DeviceStream stream) { return std::bit_cast<cudaStream_t>(stream); }

/// Null if all that any stream was given is done: where no mark can be made, that is waited for.
std::shared_ptr<const StreamMark> mark_stream(const std::shared_ptr<const GpuContext>& gpu,
                                              DeviceStream stream) noexcept;

}  // namespace stoker
