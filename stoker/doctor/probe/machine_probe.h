// The machine as this process may use it: cores, memory, sockets, GPUs, network.
#pragma once

#include <string>

#include "stoker/doctor/facts.h"

namespace stoker {

/// All but what NoiseWatch finds. `root`: of the folders /proc and /sys, for tests.
MachineFacts probe_machine(const std::string& root = {});

}  // namespace stoker
