// Typical figures of disks, networks, GPUs and rented machines: what a what-if puts in place of what was measured. The
// figures that ship with Stoker are those of data sheets and of common experience (catalogue.toml says which); users
// add their own, or correct these, in a file of the same form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/doctor/model/configuration.h"

namespace stoker {

/// A machine to rent or to buy.
struct CloudMachine {
  std::string name;
  double vcpus = 0;
  std::uint64_t memory_bytes = 0;
  std::string gpu{};  // a name of the catalogue; empty: it has none
  int gpus = 0;
  std::string network{}, disk{};           // names of the catalogue
  std::optional<double> price_per_hour{};  // in whatever currency all prices of the catalogue are
};

struct Catalogue {
  std::vector<DiskClass> disks;  // each list in the order of the file: from slow to fast
  std::vector<NetworkClass> networks;
  std::vector<GpuClass> gpus;  // speed_against: of an A100's speed in training
  std::vector<CloudMachine> machines;

  /// What ships with Stoker.
  static const Catalogue& shipped();
  /// Adds entries, or replaces those of the same names. Throws kUsage, with the line: for what is not TOML, unknown
  /// names, values that cannot be.
  void extend(std::string_view text);
  /// The same for a file; the errors name it. Also throws kNotFound and kIo.
  void extend_by_file(const std::string& path);

  /// Throw kUsage for a name that is not there, with the nearest one.
  const DiskClass& disk(std::string_view name) const;
  const NetworkClass& network(std::string_view name) const;
  const GpuClass& gpu(std::string_view name) const;
  const CloudMachine& machine(std::string_view name) const;
  /// By the name a driver gives, as "NVIDIA H100 80GB HBM3", or a profile's, as "resnet50/h100". Null if none is in it.
  const GpuClass* gpu_within(std::string_view text) const;
};

}  // namespace stoker
