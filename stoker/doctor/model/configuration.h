// What a what-if changes: the parts of a machine, a layout and a run that the model can exchange. An empty
// configuration is what was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stoker {

/// A disk or a network file system, as the catalogue has it, or as measured.
struct DiskClass {
  std::string name;  // "nvme"
  double bytes_per_s = 0, reads_per_s = 0, latency_s = 0;
  bool shared = false;  // by nodes: what one of them takes, the others do not get
};

struct NetworkClass {
  std::string name;  // "25g"
  double bytes_per_s = 0;
  std::optional<double> first_byte_s{};  // of the store behind it
};

struct GpuClass {
  std::string name;          // "h100"
  double speed_against = 1;  // of the step's, for the same training
  std::uint64_t memory_bytes = 0;
};

struct Configuration {
  std::optional<double> cores{};
  std::optional<int> threads{};
  std::optional<double> remote_cores{};  // of other machines, which hand their batches over
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<DiskClass> disk{};
  std::optional<NetworkClass> network{};
  std::optional<GpuClass> gpu{};
  std::optional<int> gpus{};            // of the node, a batch each
  std::optional<int> nodes{};           // that share storage, where it can be shared
  std::optional<std::string> layout{};  // "packed", "loose"
  std::optional<std::string> cache{};   // "none", "ram", "disk", "decoded"
  std::optional<int> transfer_index{};
  std::optional<int> io_depth{}, prefetch{}, batch{};
  std::optional<std::string> order{};
  std::optional<double> step_s{};
  std::optional<std::string> without{};  // a stage of the recipe that it leaves out
};

}  // namespace stoker
