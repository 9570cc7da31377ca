// NVIDIA GPUs. The program starts without a driver: driver and GPUs are looked up when a device is opened.
#pragma once

#include <memory>
#include <string_view>

#include "stoker/device/device.h"

namespace stoker {

/// By the text after "cuda:", a number. Throws kUsage for what is not a number, kNotFound where there is no driver,
/// none that is new enough, or no such GPU.
std::shared_ptr<Device> open_cuda_device(std::string_view ordinal);

}  // namespace stoker
