// What stands in for the GPUs in a program that was built without CUDA.
#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/device/cuda/cuda_device.h"
#include "stoker/device/pinned_host.h"

namespace stoker {

std::shared_ptr<Device> open_cuda_device(std::string_view ordinal) {
  fail(ErrorKind::kUsage,
       "'cuda:{}' needs a program built with CUDA, but this one was built without it; see docs/gpu.md", ordinal);
}

std::shared_ptr<PinnedHost> open_pinned_host() {
  log(LogLevel::kWarning, "batches are not pinned: this program was built without CUDA");
  return nullptr;
}

}  // namespace stoker
