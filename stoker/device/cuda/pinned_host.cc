#include "stoker/device/pinned_host.h"

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/device/cuda/cuda_event.h"
#include "stoker/device/cuda/cuda_memory.h"

namespace stoker {
namespace {

class CudaPinnedHost final : public PinnedHost {
 public:
  explicit CudaPinnedHost(int gpu) : context_(std::make_shared<GpuContext>(gpu)) {}

  Allocator& memory() override { return memory_; }
  std::shared_ptr<const StreamMark> mark(DeviceStream stream) noexcept override {
    return mark_stream(context_, stream);
  }

 private:
  const std::shared_ptr<const GpuContext> context_;
  PinnedAllocator memory_{*context_};
};

}  // namespace

std::shared_ptr<PinnedHost> open_pinned_host() {
  try {
    int gpus = 0, gpu = 0;
    check_cuda(cudaGetDeviceCount(&gpus), "pinned memory");
    check_cuda(cudaGetDevice(&gpu), "pinned memory");
    return std::make_shared<CudaPinnedHost>(gpu);
  } catch (const Error& error) {
    log(LogLevel::kWarning, "batches are not pinned: {}", error.message());
    return nullptr;
  }
}

}  // namespace stoker
