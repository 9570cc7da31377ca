#include "stoker/doctor/probe/machine_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "stoker/base/machine.h"
#include "stoker/doctor/probe/system_file.h"

namespace stoker {
namespace {

/// What a lane of PCIe carries, by its rate in gigatransfers: what its code leaves of the bits.
double lane_bytes_per_s(double gigatransfers) {
  const double code = gigatransfers <= 5 ? 8.0 / 10 : gigatransfers <= 32 ? 128.0 / 130 : 242.0 / 256;
  return gigatransfers * 1e9 * code / 8;
}

/// "Model: \t\t NVIDIA H100" in what the driver says of a GPU.
std::string nvidia_model(const std::string& root, const std::string& bus_id) {
  const auto information = read_system_file(fmt::format("{}/proc/driver/nvidia/gpus/{}/information", root, bus_id));
  std::istringstream stream(information.value_or(""));
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("Model:")) continue;
    const std::size_t name = line.find_first_not_of(" \t", 6);
    if (name != std::string::npos) return line.substr(name);
  }
  return {};
}

/// GPUs that compute: NVIDIA's and AMD's displays and 3D controllers, and what calls itself an accelerator.
bool is_gpu(const std::string& pci_class, const std::string& vendor) {
  if (pci_class.starts_with("0x1200")) return true;
  const bool shows = pci_class.starts_with("0x0300") || pci_class.starts_with("0x0302");
  return shows && (vendor == "0x10de" || vendor == "0x1002");
}

std::vector<GpuFacts> find_gpus(const std::string& root) {
  std::vector<GpuFacts> gpus;
  const std::string devices = root + "/sys/bus/pci/devices/";
  for (const std::string& bus_id : names_in(devices)) {
    const std::string folder = devices + bus_id;
    const std::string vendor = read_system_line(folder + "/vendor").value_or("");
    if (!is_gpu(read_system_line(folder + "/class").value_or(""), vendor)) continue;
    GpuFacts gpu;
    gpu.bus_id = bus_id;
    gpu.name = nvidia_model(root, bus_id);
    if (gpu.name.empty()) {
      gpu.name = fmt::format("PCI {}:{}", vendor, read_system_line(folder + "/device").value_or("?"));
    }
    gpu.numa_node = static_cast<int>(read_system_number(folder + "/numa_node").value_or(-1));
    // An idle GPU slows its link down, but keeps its lanes.
    const auto speed = read_system_number(folder + "/max_link_speed");
    const auto lanes = read_system_number(folder + "/current_link_width");
    if (speed && lanes) gpu.link_bytes_per_s = lane_bytes_per_s(*speed) * *lanes;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

bool is_numbered(const std::string& name, std::string_view stem) {
  return name.size() > stem.size() && name.starts_with(stem) &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(stem.size()), name.end(),
                     [](unsigned char digit) { return std::isdigit(digit) != 0; });
}

int count_sockets(const std::string& root) {
  const std::string folder = root + "/sys/devices/system/cpu/";
  std::set<std::string> sockets;
  for (const std::string& name : names_in(folder)) {
    if (!is_numbered(name, "cpu")) continue;
    if (auto socket = read_system_line(folder + name + "/topology/physical_package_id")) sockets.insert(*socket);
  }
  return std::max(static_cast<int>(sockets.size()), 1);
}

int count_numa_nodes(const std::string& root) {
  const std::vector<std::string> names = names_in(root + "/sys/devices/system/node");
  const auto nodes =
      std::count_if(names.begin(), names.end(), [](const auto& name) { return is_numbered(name, "node"); });
  return std::max(static_cast<int>(nodes), 1);
}

/// Of real ones: what virtual interfaces say of their speed means nothing.
std::optional<double> network_speed(const std::string& root) {
  const std::string folder = root + "/sys/class/net/";
  std::optional<double> fastest;
  for (const std::string& name : names_in(folder)) {
    if (!read_system_line(folder + name + "/device/uevent")) continue;
    if (read_system_line(folder + name + "/operstate").value_or("") != "up") continue;
    const auto megabits = read_system_number(folder + name + "/speed");
    if (megabits && *megabits > 0) fastest = std::max(fastest.value_or(0), *megabits * 1e6 / 8);
  }
  return fastest;
}

}  // namespace

MachineFacts probe_machine(const std::string& root) {
  MachineFacts machine;
  machine.name = machine_name();
  machine.cores = usable_core_time();
  machine.memory_bytes = usable_memory();
  machine.sockets = count_sockets(root);
  machine.numa_nodes = count_numa_nodes(root);
  machine.gpus = find_gpus(root);
  machine.network_bytes_per_s = network_speed(root);
  return machine;
}

bool same_bus_id(std::string_view a, std::string_view b) {
  const auto same = [](unsigned char left, unsigned char right) { return std::tolower(left) == std::tolower(right); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

}  // namespace stoker
