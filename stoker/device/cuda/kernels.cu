#include "stoker/device/cuda/kernels.h"

namespace stoker {
namespace {

template <class Kernel, int kPhase>
__device__ void run_phases(const typename Kernel::Args& args, typename Kernel::Shared& shared) {
  Kernel::template run<kPhase>(args, shared, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x));
  if constexpr (kPhase + 1 < Kernel::kPhases) {
    __syncthreads();
    run_phases<Kernel, kPhase + 1>(args, shared);
  }
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads) run_grid(const __grid_constant__ typename Kernel::Args args) {
  __shared__ typename Kernel::Shared shared;
  run_phases<Kernel, 0>(args, shared);
}

template <class Kernel>
struct GpuRun {
  static cudaError_t function(const DeviceLaunch& launch, cudaStream_t stream) {
    typename Kernel::Args args;
    std::memcpy(&args, launch.args.data(), sizeof(args));
    run_grid<Kernel><<<static_cast<unsigned>(launch.blocks), Kernel::kThreads, 0, stream>>>(args);
    return cudaGetLastError();
  }
};

template <class Kernel>
struct GpuLoad {
  static cudaError_t function() {
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, run_grid<Kernel>);
  }
};

}  // namespace

cudaError_t load_gpu_kernels() {
  for (const auto load : DeviceKernels::table<GpuLoad>()) {
    if (const cudaError_t error = load(); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t launch_on_gpu(const DeviceLaunch& launch, cudaStream_t stream) {
  static constexpr auto kRun = DeviceKernels::table<GpuRun>();
  return kRun[static_cast<std::size_t>(launch.kernel)](launch, stream);
}

}  // namespace stoker
