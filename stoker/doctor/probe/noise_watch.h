// Watches, while the probes measure, what others take of this machine: other virtual machines, and other programs on
// the cores that this process may use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/doctor/facts.h"

namespace stoker {

/// Of some cores together, in seconds, since the machine started.
struct CpuTimes {
  double busy = 0;
  double idle = 0;    // also waiting for a disk
  double stolen = 0;  // by other virtual machines
};

/// Of these cores, by a text like /proc/stat; of all if none of them stands there.
CpuTimes parse_cpu_times(const std::string& stat, const std::vector<int>& cores);

/// What happened between two readings.
struct MachineNoise {
  double stolen_share = 0;  // of the cores' time
  double others_cores = 0;  // that other programs kept from this one

  /// `cores`: that this process may use, of `allowed`; `own_s`: its time on them, and its children's.
  static MachineNoise between(const CpuTimes& before, const CpuTimes& after, double seconds, double own_s, double cores,
                              int allowed);
};

/// Adds a sentence for what makes figures less repeatable than they are to be.
void doubt_noise(const MachineFacts& machine, std::vector<std::string>& doubts);

/// Nanoseconds on cores so far, of this process and of the children that it has waited for, such as those in which
/// recipes' functions ran.
std::int64_t own_cpu_ns();

class NoiseWatch {
 public:
  NoiseWatch();

  /// Since it was made; with doubt_noise(). Children that still run count as other programs.
  void report(MachineFacts& machine, std::vector<std::string>& doubts) const;

 private:
  std::vector<int> cores_;
  CpuTimes before_;
  std::int64_t began_ns_, own_ns_;
};

}  // namespace stoker
