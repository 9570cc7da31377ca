#include "stoker/device/cuda/cuda_check.h"

#include <fmt/format.h>

#include "stoker/base/error.h"

namespace stoker {
namespace {

std::string driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return "none";
  return fmt::format("one for CUDA {}.{}", version / 1000, version % 1000 / 10);
}

// The driver's own calls, which are not linked: the program starts where there is no driver.
struct Driver {
  decltype(&cuDeviceGet) device = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain = nullptr;
  decltype(&cuDevicePrimaryCtxRelease) release = nullptr;
  decltype(&cuDevicePrimaryCtxGetState) state = nullptr;
  decltype(&cuCtxPushCurrent) push = nullptr;
  decltype(&cuCtxPopCurrent) pop = nullptr;
};

const Driver& driver() {
  static const Driver kDriver = [] {
    const auto find = [](const char* name) {
      constexpr unsigned kVersion = 12000;
      void* function = nullptr;
      cudaDriverEntryPointQueryResult found{};
      check_cuda(cudaGetDriverEntryPointByVersion(name, &function, kVersion, cudaEnableDefault, &found), name);
      if (!function) fail(ErrorKind::kNotFound, "the GPU's driver is too old: it has no {}", name);
      return function;
    };
    return Driver{reinterpret_cast<decltype(Driver::device)>(find("cuDeviceGet")),
                  reinterpret_cast<decltype(Driver::retain)>(find("cuDevicePrimaryCtxRetain")),
                  reinterpret_cast<decltype(Driver::release)>(find("cuDevicePrimaryCtxRelease")),
                  reinterpret_cast<decltype(Driver::state)>(find("cuDevicePrimaryCtxGetState")),
                  reinterpret_cast<decltype(Driver::push)>(find("cuCtxPushCurrent")),
                  reinterpret_cast<decltype(Driver::pop)>(find("cuCtxPopCurrent"))};
  }();
  return kDriver;
}

// The two number their errors alike.
void check_driver(CUresult result, std::string_view what) { check_cuda(static_cast<cudaError_t>(result), what); }

}  // namespace

void check_cuda(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // or the thread's next launch would tell it again
  switch (error) {
    case cudaErrorMemoryAllocation:
      fail(ErrorKind::kMemory, "{}: the GPU has no memory left; use a smaller batch or prefetch", what);
    case cudaErrorNoDevice: fail(ErrorKind::kNotFound, "{}: this machine has no GPU that CUDA can use", what);
    case cudaErrorInsufficientDriver:
      fail(ErrorKind::kNotFound, "{}: it needs a driver for CUDA {}.{} or newer, but the machine has {}", what,
           CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, driver_version());
    case cudaErrorNoKernelImageForDevice:
      fail(ErrorKind::kNotFound,
           "{}: this program was built without kernels for this GPU; build it for its architecture", what);
    case cudaErrorDevicesUnavailable:
      fail(ErrorKind::kIo, "{}: the GPU is busy: another process uses it exclusively", what);
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorHardwareStackError:
    case cudaErrorECCUncorrectable:
    case cudaErrorContextIsDestroyed:
      fail(ErrorKind::kIo,
           "{}: the GPU has failed and this process cannot use it any more; start the process again: {} ({})", what,
           cudaGetErrorString(error), cudaGetErrorName(error));
    default: fail(ErrorKind::kIo, "{}: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error));
  }
}

GpuContext::GpuContext(int gpu) : gpu_(gpu), name_(fmt::format("cuda:{}", gpu)) {
  check_driver(driver().device(&device_, gpu), name_);
  check_driver(driver().retain(&context_, device_), name_);
}

bool GpuContext::is_there(int gpu) {
  CUdevice device = 0;
  unsigned flags = 0;
  int active = 0;
  check_driver(driver().device(&device, gpu), "the GPU");
  check_driver(driver().state(device, &flags, &active), "the GPU");
  return active != 0;
}

GpuContext::~GpuContext() { driver().release(device_); }

OnGpu::OnGpu(const GpuContext& gpu) { check_driver(driver().push(gpu.context_), gpu.name()); }

OnGpu::~OnGpu() {
  CUcontext ours = nullptr;
  driver().pop(&ours);
}

}  // namespace stoker
