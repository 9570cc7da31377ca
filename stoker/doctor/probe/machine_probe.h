// The machine as this process may use it: cores, memory, sockets, GPUs, network.
#pragma once

#include <string>
#include <string_view>

#include "stoker/doctor/facts.h"

namespace stoker {

/// All but what NoiseWatch finds. `root`: of the folders /proc and /sys, for tests.
MachineFacts probe_machine(const std::string& root = {});

/// Whether two ids are of the same place on the PCI bus: /sys has "0000:3b:00.0", CUDA "0000:3B:00.0".
bool same_bus_id(std::string_view a, std::string_view b);

}  // namespace stoker
