// The device that agreement tests run on: the emulated one, or the one that the environment names, which may be a GPU.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "stoker/device/device.h"

namespace stoker {

inline std::string test_device_name() {
  const char* const name = std::getenv("STOKER_TEST_DEVICE");
  return name ? name : "emulated:execute";
}

inline std::shared_ptr<Device> open_test_device() { return open_device(test_device_name()); }

}  // namespace stoker
