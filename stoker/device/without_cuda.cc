// What stands in for the GPUs in a program that was built without CUDA.
#include "stoker/base/error.h"
#include "stoker/device/cuda/cuda_device.h"

namespace stoker {

std::shared_ptr<Device> open_cuda_device(std::string_view ordinal) {
  fail(ErrorKind::kUsage, "'cuda:{}' needs a program that was built with CUDA, which this one was not", ordinal);
}

}  // namespace stoker
