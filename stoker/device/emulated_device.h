// Emulated devices. One computes a device's work on the host, block by block: for agreement tests, and untimed;
// Stoker's decoders replace nvJPEG. The other computes nothing, and finishes when a device of its speeds would: for
// timing.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "stoker/device/device.h"

namespace stoker {

/// How fast a modelled device is. Its kernels take as long as their bytes take through its memory, and coded images as
/// long as it takes to decode them; copies go beside kernels.
struct DeviceModel {
  std::string name;
  double copy_bytes_per_s = 0;    // from pinned memory
  double memory_bytes_per_s = 0;  // that kernels reach
  double coded_bytes_per_s = 0;   // of JPEGs, by entry points
  double nvjpeg_bytes_per_s = 0;  // of JPEGs, by nvJPEG
  double launch_s = 0;            // of any kernel or copy, however small
};

/// Named after GPUs. What is known of these is what their makers say; how much of it copies and kernels reach, and how
/// fast they decode, is assumed, and stands beside the figures.
const std::vector<DeviceModel>& device_models();

/// "execute", a model's name, or one with figures changed:
/// "h100,copy=12GB/s,memory=2TB/s,coded=1GB/s,nvjpeg=200MB/s,launch=5e-6". Throws kUsage.
std::shared_ptr<Device> open_emulated_device(std::string_view what);

}  // namespace stoker
