// Launching the grid kernels on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include "stoker/device/launch.h"

namespace stoker {

/// Loads the kernels, so that launches do not wait for that. Fails where there are none for the GPU of the thread.
cudaError_t load_gpu_kernels();

/// Hands a launch to a stream. What it returns is CUDA's word for what went wrong, if anything did.
cudaError_t launch_on_gpu(const DeviceLaunch& launch, cudaStream_t stream);

}  // namespace stoker
