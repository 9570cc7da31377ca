// The limits that control groups, of version 1 or 2, set on this process: its own group's and those of the groups above
// it, as far as it sees them. Threads: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stoker {

struct CgroupLimits {
  /// On reads from a block device.
  struct Device {
    unsigned major = 0, minor = 0;
    std::optional<double> read_bytes_per_s{}, reads_per_s{};
  };

  std::optional<double> cores{};  // that its time may amount to: 1.5
  std::optional<std::uint64_t> memory_bytes{};
  std::vector<Device> devices{};  // those with a limit, each once

  /// Null for a device without one.
  const Device* device(unsigned major, unsigned minor) const;
};

/// `root`: of the folders /proc and /sys, for tests.
CgroupLimits cgroup_limits(const std::string& root = {});

}  // namespace stoker
