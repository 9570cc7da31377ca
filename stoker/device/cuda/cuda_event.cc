#include "stoker/device/cuda/cuda_event.h"

#include <chrono>

#include "stoker/base/clock.h"

namespace stoker {
namespace {

/// From one event to another, both of them reached; unset if they are not.
std::optional<std::int64_t> elapsed_ns(const GpuContext& gpu, cudaEvent_t begin, cudaEvent_t end) {
  std::optional<std::int64_t> ns;
  quietly_on_gpu(gpu, [&] {
    float milliseconds = 0;
    if (cudaEventQuery(end) == cudaSuccess && cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess) {
      ns = static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
    } else {
      cudaGetLastError();  // it is not an error here
    }
  });
  return ns;
}

}  // namespace

CudaTaskEvent::CudaTaskEvent(std::shared_ptr<const GpuContext> gpu)
    : gpu_(std::move(gpu)),
      copied(*gpu_, cudaEventDisableTiming),
      done(*gpu_, cudaEventBlockingSync | cudaEventDisableTiming) {}

void CudaTaskEvent::hear(void* notice) {
  const std::unique_ptr<std::shared_ptr<Notice>> owner(static_cast<std::shared_ptr<Notice>*>(notice));
  const std::lock_guard lock((*owner)->mutex);
  (*owner)->done_ns = now_ns();
  (*owner)->heard.notify_all();
}

void CudaTaskEvent::tell_host(cudaStream_t stream) {
  check_cuda(cudaStreamWaitEvent(stream, done), gpu_->name());
  auto owner = std::make_unique<std::shared_ptr<Notice>>(notice_);
  check_cuda(cudaLaunchHostFunc(stream, &CudaTaskEvent::hear, owner.get()), gpu_->name());
  static_cast<void>(owner.release());  // hear()'s now
}

// What went wrong is told by wait_for().
void CudaTaskEvent::wait_for_memory() const {
  quietly_on_gpu(*gpu_, [&] { cudaEventSynchronize(done); });
}

bool CudaTaskEvent::wait_for(std::int64_t patience_ns) const {
  {
    std::unique_lock lock(notice_->mutex);
    const auto heard = [&] { return notice_->done_ns != 0; };
    if (notice_->heard.wait_for(lock, std::chrono::nanoseconds(patience_ns), heard)) return true;
  }
  // A GPU that has failed gives no notice.
  const OnGpu on(*gpu_);
  const cudaError_t state = cudaEventQuery(done);
  if (state == cudaErrorNotReady) {
    cudaGetLastError();  // it is not an error here, and the consumer may ask for its own
    return false;
  }
  check_cuda(state, gpu_->name());
  return true;
}

std::int64_t CudaTaskEvent::done_ns() const {
  const std::lock_guard lock(notice_->mutex);
  return notice_->done_ns != 0 ? notice_->done_ns : now_ns();
}

void CudaTaskEvent::begin_stage(std::size_t run, cudaStream_t stream) {
  if (turns_.empty() || turns_.back().run != run) record(run, stream);
}

void CudaTaskEvent::end_stages(cudaStream_t stream) {
  if (!turns_.empty()) record(kStageRuns.size(), stream);
}

void CudaTaskEvent::record(std::size_t run, cudaStream_t stream) {
  turns_.push_back({run, std::make_unique<GpuEvent>(*gpu_, cudaEventDefault)});
  check_cuda(cudaEventRecord(*turns_.back().began, stream), gpu_->name());
}

StageTimes CudaTaskEvent::stages_ns() const {
  StageTimes times{};
  for (std::size_t i = 0; i + 1 < turns_.size(); ++i) {
    times[turns_[i].run] += elapsed_ns(*gpu_, *turns_[i].began, *turns_[i + 1].began).value_or(0);
  }
  return times;
}

std::optional<std::int64_t> CudaStreamMark::ns_since(const StreamMark& earlier) const {
  return elapsed_ns(*gpu_, static_cast<const CudaStreamMark&>(earlier).event, event);
}

std::shared_ptr<const StreamMark> mark_stream(const std::shared_ptr<const GpuContext>& gpu,
                                              DeviceStream stream) noexcept {
  try {
    const OnGpu on(*gpu);
    try {
      return std::make_shared<CudaStreamMark>(gpu, handle_of(stream));
    } catch (const std::exception&) {  // the stream is gone, or memory is: waiting for all streams needs neither
      cudaDeviceSynchronize();
    }
  } catch (const std::exception&) {  // the GPU is lost; the next call that uses it fails with that
  }
  return nullptr;
}

}  // namespace stoker
