// Launching the grid kernels on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include "stoker/device/launch.h"

namespace stoker {

/// Hands a launch to a stream. What it returns is CUDA's word for what went wrong, if anything did.
cudaError_t launch_on_gpu(const DeviceLaunch& launch, cudaStream_t stream);

}  // namespace stoker
