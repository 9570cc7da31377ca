#include "stoker/base/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <thread>

#include "stoker/base/units.h"

namespace stoker {
namespace {

// The first whitespace-separated number of a small kernel file; nullopt when it is absent or says "max" or -1.
std::optional<double> read_number(const char* path, int which = 0) {
  std::ifstream file(path);
  std::string word;
  for (int i = 0; i <= which; ++i) file >> word;
  if (!file || word.empty() || word == "max" || word[0] == '-') return std::nullopt;
  return std::strtod(word.c_str(), nullptr);
}

std::optional<double> cgroup_cores() {
  auto quota = read_number("/sys/fs/cgroup/cpu.max", 0);
  auto period = read_number("/sys/fs/cgroup/cpu.max", 1);
  if (!quota) {
    quota = read_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    period = read_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  }
  if (!quota || !period || *period <= 0) return std::nullopt;
  return *quota / *period;
}

}  // namespace

int usable_cores() {
  cpu_set_t mask;
  int cores = sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask)
                                                             : static_cast<int>(std::thread::hardware_concurrency());
  if (const auto quota = cgroup_cores()) cores = std::min(cores, static_cast<int>(*quota + 0.999));
  return std::max(cores, 1);
}

std::uint64_t usable_memory() {
  auto bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    if (const auto limit = read_number(path)) bytes = std::min(bytes, *limit);
  }
  return static_cast<std::uint64_t>(bytes);
}

std::string machine_name() {
  std::string model = "unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  }
  return fmt::format("{}, {}", model, counted(usable_cores(), "core"));
}

}  // namespace stoker
