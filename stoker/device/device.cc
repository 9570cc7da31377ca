#include "stoker/device/device.h"

#include "stoker/base/error.h"
#include "stoker/device/cuda/cuda_device.h"
#include "stoker/device/emulated_device.h"

namespace stoker {

std::size_t stage_run_of(const DeviceLaunch& launch) {
  if (launch.kernel == DeviceKernels::number<DeviceJpegKernel>() ||
      launch.kernel == DeviceKernels::number<DeviceJpegTransformKernel>()) {
    return kDeviceDecodeRun;
  }
  if (launch.kernel == DeviceKernels::number<DevicePlanarKernel>() ||
      launch.kernel == DeviceKernels::number<DeviceRgbKernel>()) {
    return stage_run(StageSide::kDevice, Stage::kGeometry, Stage::kColor);
  }
  return stage_run(StageSide::kDevice, Stage::kColor);
}

std::shared_ptr<const Memory> Device::scratch(std::size_t bytes) {
  const std::lock_guard lock(scratch_mutex_);
  std::shared_ptr<const Memory> scratch = scratch_.lock();
  if (!scratch || scratch->size() < bytes) {
    scratch = std::make_shared<const Memory>(memory(), bytes);
    scratch_ = scratch;
  }
  return scratch;
}

std::shared_ptr<Device> open_device(std::string_view name) {
  constexpr std::string_view kEmulated = "emulated:", kCuda = "cuda:";
  if (name == "cpu") return nullptr;
  if (name == "cuda") name = "cuda:0";
  if (name.starts_with(kEmulated)) return open_emulated_device(name.substr(kEmulated.size()));
  if (name.starts_with(kCuda)) return open_cuda_device(name.substr(kCuda.size()));
  fail(ErrorKind::kUsage, "there is no device '{}'; use cpu, cuda:0, emulated:execute or emulated:NAME", name);
}

}  // namespace stoker
