#include "stoker/device/pinned_host.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/device/cuda/cuda_event.h"
#include "stoker/device/cuda/cuda_memory.h"

namespace stoker {
namespace {

/// Of default streams, which each GPU has under the same number.
class CudaMarks final : public StreamMark {
 public:
  explicit CudaMarks(std::vector<std::shared_ptr<const StreamMark>> marks) : marks_(std::move(marks)) {}

  void wait() const override {
    for (const auto& mark : marks_) mark->wait();
  }
  std::optional<std::int64_t> ns_since(const StreamMark& /*earlier*/) const override { return std::nullopt; }

 private:
  const std::vector<std::shared_ptr<const StreamMark>> marks_;
};

class CudaPinnedHost final : public PinnedHost {
 public:
  CudaPinnedHost(int gpu, int gpus) : context_(std::make_shared<GpuContext>(gpu)), gpus_(gpus) {
    contexts_.push_back(context_);
  }

  Allocator& memory() override { return memory_; }

  // The consumer may copy to any GPU, whichever the loader was made with.
  std::shared_ptr<const StreamMark> mark(DeviceStream stream) noexcept override {
    const std::lock_guard lock(mutex_);
    try {
      find_contexts();
      const cudaStream_t handle = handle_of(stream);
      const bool is_default = !handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread;
      if (!is_default) return mark_of(handle);
      std::vector<std::shared_ptr<const StreamMark>> marks;
      for (const auto& context : contexts_) {
        if (auto mark = mark_stream(context, stream)) marks.push_back(std::move(mark));
      }
      return std::make_shared<CudaMarks>(std::move(marks));
    } catch (const std::exception&) {  // the stream is gone, or memory is: waiting for all streams needs neither
      for (const auto& context : contexts_) quietly_on_gpu(*context, [] { cudaDeviceSynchronize(); });
      return nullptr;
    }
  }

 private:
  // Of the GPUs that this process uses by now.
  void find_contexts() {
    for (int gpu = 0; gpu < gpus_; ++gpu) {
      const auto is_this = [&](const auto& context) { return context->gpu() == gpu; };
      if (std::any_of(contexts_.begin(), contexts_.end(), is_this) || !GpuContext::is_there(gpu)) continue;
      contexts_.push_back(std::make_shared<GpuContext>(gpu));
    }
  }

  // CUDA marks a stream with an event of the same GPU only.
  std::shared_ptr<const StreamMark> mark_of(cudaStream_t stream) const {
    for (const auto& context : contexts_) {
      try {
        const OnGpu on(*context);
        return std::make_shared<CudaStreamMark>(context, stream);
      } catch (const Error&) {
        if (context == contexts_.back()) throw;
      }
    }
    return nullptr;
  }

  const std::shared_ptr<const GpuContext> context_;
  const int gpus_;  // that the machine has
  PinnedAllocator memory_{*context_};
  std::mutex mutex_;
  std::vector<std::shared_ptr<const GpuContext>> contexts_;  // never empty
};

}  // namespace

std::shared_ptr<PinnedHost> open_pinned_host() {
  try {
    int gpus = 0, gpu = 0;
    check_cuda(cudaGetDeviceCount(&gpus), "pinned memory");
    check_cuda(cudaGetDevice(&gpu), "pinned memory");
    return std::make_shared<CudaPinnedHost>(gpu, gpus);
  } catch (const Error& error) {
    log(LogLevel::kWarning, "batches are not pinned: {}", error.message());
    return nullptr;
  }
}

}  // namespace stoker
