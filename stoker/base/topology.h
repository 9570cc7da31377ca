// Finds the cores near a device on the PCI bus: on a machine with several sockets, threads that feed a GPU belong on
// the GPU's socket.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace stoker {

struct NearCores {
  /// The cores among those that the calling thread may run on, by the system's numbers, ascending. Empty if all of
  /// these cores are near, if none is, or if it is not known.
  std::vector<int> cores;
  std::string account;  // what was found and what follows, for the log
};

/// Those near the device with this PCI bus id ("0000:3b:00.0"). The machine is examined once per process.
NearCores cores_near(const std::string& bus_id);

/// The same on a machine that hwloc described as XML, to a thread that may run on `allowed`.
NearCores cores_near(const std::string& bus_id, const std::string& machine_xml, std::span<const int> allowed);

/// Cores that the calling thread may run on, ascending; empty where the system does not tell.
std::vector<int> allowed_cores();

/// Restricts the calling thread to these cores; with none, nothing changes. False if the system refuses.
bool run_on(std::span<const int> cores);

}  // namespace stoker
