#include "stoker/base/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "stoker/base/cgroup.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

int allowed_core_count() {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask)
                                                        : static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

double usable_core_time() {
  const double allowed = std::max(allowed_core_count(), 1);
  return std::min(allowed, cgroup_limits().cores.value_or(allowed));
}

int usable_cores() { return std::max(static_cast<int>(usable_core_time() + 0.999), 1); }

std::uint64_t usable_memory() {
  const auto bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  return std::min(bytes, cgroup_limits().memory_bytes.value_or(bytes));
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
