// Which cores lie near a device on the PCI bus: on a machine of several sockets, threads that feed a GPU belong on its
// own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

struct NearCores {
  /// Of those that the calling thread may run on, as the system numbers them, ascending. Empty: they are no others, or
  /// there are none, or nobody knows.
  std::vector<int> cores;
  std::string account;  // what was found and what follows, for the log
};

/// Those near the device with this PCI bus id ("0000:3b:00.0"). The machine is looked at once in a process.
NearCores cores_near(const std::string& bus_id);

/// The same on a machine that hwloc described as XML, to a thread that may run on `allowed`.
NearCores cores_near(const std::string& bus_id, const std::string& machine_xml, std::span<const int> allowed);

/// Cores that the calling thread may run on, ascending; empty where the system does not tell.
std::vector<int> allowed_cores();

/// The calling thread runs on these alone from now on; with none, nothing changes. False if the system refuses.
bool run_on(std::span<const int> cores);

}  // namespace stoker
