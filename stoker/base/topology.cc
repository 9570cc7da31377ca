#include "stoker/base/topology.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace stoker {
namespace {

// Numbers of cores that the system's masks are asked for.
constexpr int kCoresMax = 1 << 14;

class CoreMask {
 public:
  CoreMask() : mask_(CPU_ALLOC(kCoresMax)) { CPU_ZERO_S(bytes(), get()); }

  cpu_set_t* get() const { return mask_.get(); }
  static std::size_t bytes() { return CPU_ALLOC_SIZE(kCoresMax); }

 private:
  struct Free {
    void operator()(cpu_set_t* mask) const { CPU_FREE(mask); }
  };
  std::unique_ptr<cpu_set_t, Free> mask_;
};

/// hwloc's description of a machine.
class Topology {
 public:
  /// Of this machine if `xml` is null. A machine that cannot be examined has no devices.
  explicit Topology(const std::string* xml) {
    if (hwloc_topology_init(&topology_) != 0) return;
    // The size counts the zero after it.
    const bool set =
        !xml || hwloc_topology_set_xmlbuffer(topology_, xml->c_str(), static_cast<int>(xml->size() + 1)) == 0;
    hwloc_topology_set_all_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    hwloc_topology_set_type_filter(topology_, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_ALL);
    // Linux reports as much as libpciaccess, which leaks memory.
    hwloc_topology_set_components(topology_, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "pci");
    known_ = set && hwloc_topology_load(topology_) == 0;
  }
  ~Topology() {
    if (topology_) hwloc_topology_destroy(topology_);
  }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  /// The cores nearest to a device; none for an unknown device.
  std::optional<std::vector<int>> cores_near(const std::string& bus_id) const {
    if (!known_) return std::nullopt;
    hwloc_obj* const device = hwloc_get_pcidev_by_busidstring(topology_, bus_id.c_str());
    hwloc_obj* const place = device ? hwloc_get_non_io_ancestor_obj(topology_, device) : nullptr;
    if (!place || !place->cpuset) return std::nullopt;
    std::vector<int> cores;
    for (int core = hwloc_bitmap_first(place->cpuset); core >= 0; core = hwloc_bitmap_next(place->cpuset, core)) {
      cores.push_back(core);
    }
    return cores;
  }

 private:
  hwloc_topology* topology_ = nullptr;
  bool known_ = false;
};

NearCores near_and_allowed(const std::string& bus_id, const Topology& machine, std::span<const int> allowed) {
  const std::optional<std::vector<int>> near = machine.cores_near(bus_id);
  if (!near) return {{}, fmt::format("cannot find out where the device {} is: threads run on any core", bus_id)};
  NearCores result;
  std::ranges::set_intersection(*near, allowed, std::back_inserter(result.cores));
  const std::size_t count = result.cores.size();
  if (count == allowed.size()) result.cores.clear();
  result.account =
      fmt::format("{} of {} cores are near the device {}: threads run on {}", count, allowed.size(), bus_id,
                  result.cores.empty() ? std::string("any core") : fmt::format("{}", fmt::join(result.cores, ", ")));
  return result;
}

}  // namespace

NearCores cores_near(const std::string& bus_id) {
  static const Topology machine(nullptr);
  return near_and_allowed(bus_id, machine, allowed_cores());
}

NearCores cores_near(const std::string& bus_id, const std::string& machine_xml, std::span<const int> allowed) {
  return near_and_allowed(bus_id, Topology(&machine_xml), allowed);
}

std::vector<int> allowed_cores() {
  const CoreMask mask;
  std::vector<int> cores;
  if (sched_getaffinity(0, CoreMask::bytes(), mask.get()) != 0) return cores;
  for (int core = 0; core < kCoresMax; ++core) {
    if (CPU_ISSET_S(static_cast<std::size_t>(core), CoreMask::bytes(), mask.get())) cores.push_back(core);
  }
  return cores;
}

bool run_on(std::span<const int> cores) {
  if (cores.empty()) return true;
  const CoreMask mask;
  for (const int core : cores) CPU_SET_S(static_cast<std::size_t>(core), CoreMask::bytes(), mask.get());
  return sched_setaffinity(0, CoreMask::bytes(), mask.get()) == 0;
}

}  // namespace stoker
