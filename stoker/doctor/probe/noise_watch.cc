#include "stoker/doctor/probe/noise_watch.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "stoker/base/clock.h"
#include "stoker/base/machine.h"
#include "stoker/base/topology.h"
#include "stoker/base/units.h"
#include "stoker/doctor/probe/system_file.h"

namespace stoker {
namespace {

// From here on figures are off by more than they are to be repeatable.
constexpr double kNoiseToTell = 0.05;

CpuTimes cpu_times(const std::vector<int>& cores) {
  return parse_cpu_times(read_system_file("/proc/stat").value_or(""), cores);
}

}  // namespace

CpuTimes parse_cpu_times(const std::string& stat, const std::vector<int>& cores) {
  static const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  CpuTimes all, some;
  bool any = false;
  std::istringstream stream(stat);
  for (std::string line; std::getline(stream, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    int core = -1;
    if (line[3] != ' ' && !(words >> core)) continue;
    // user, nice, system, idle, iowait, irq, softirq, steal; the time of guests stands in the first two.
    std::array<double, 8> times{};
    for (double& time : times) words >> time;
    CpuTimes& sum = core < 0 ? all : some;
    if (core >= 0 && std::find(cores.begin(), cores.end(), core) == cores.end()) continue;
    any |= core >= 0;
    sum.busy += (times[0] + times[1] + times[2] + times[5] + times[6]) / ticks_per_s;
    sum.idle += (times[3] + times[4]) / ticks_per_s;
    sum.stolen += times[7] / ticks_per_s;
  }
  return any ? some : all;
}

MachineNoise MachineNoise::between(const CpuTimes& before, const CpuTimes& after, double seconds, double own_s,
                                   double cores, int allowed) {
  const double busy = after.busy - before.busy, idle = after.idle - before.idle, stolen = after.stolen - before.stolen;
  MachineNoise noise;
  if (busy + idle + stolen > 0) noise.stolen_share = std::max(0.0, stolen / (busy + idle + stolen));
  const double others = seconds > 0 ? std::max(0.0, busy - own_s) / seconds : 0;
  // Under a quota others may use what this process may not.
  noise.others_cores = std::clamp(others + cores - allowed, 0.0, std::min(others, cores));
  return noise;
}

void doubt_noise(const MachineFacts& machine, std::vector<std::string>& doubts) {
  if (machine.stolen_share > kNoiseToTell) {
    doubts.push_back(fmt::format("other virtual machines took {:.0f}% of the cores' time while the probes ran",
                                 100 * machine.stolen_share));
  }
  if (machine.others_cores > kNoiseToTell * machine.cores) {
    doubts.push_back(fmt::format("other programs used {:.1f} of {:.3g} cores while the probes ran",
                                 machine.others_cores, machine.cores));
  }
}

std::int64_t own_cpu_ns() {
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  const auto ns = [](const timeval& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_usec * 1000; };
  return process_cpu_ns() + ns(children.ru_utime) + ns(children.ru_stime);
}

NoiseWatch::NoiseWatch()
    : cores_(allowed_cores()), before_(cpu_times(cores_)), began_ns_(now_ns()), own_ns_(own_cpu_ns()) {}

void NoiseWatch::report(MachineFacts& machine, std::vector<std::string>& doubts) const {
  const double seconds = static_cast<double>(now_ns() - began_ns_) * 1e-9;
  const double own_s = static_cast<double>(own_cpu_ns() - own_ns_) * 1e-9;
  const int allowed = std::max(static_cast<int>(cores_.size()), usable_cores());
  const MachineNoise noise = MachineNoise::between(before_, cpu_times(cores_), seconds, own_s, machine.cores, allowed);
  machine.stolen_share = noise.stolen_share;
  machine.others_cores = noise.others_cores;
  doubt_noise(machine, doubts);
}

}  // namespace stoker
