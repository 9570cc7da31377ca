// A run as the model computes with it: what was measured, changed by a configuration, with every default filled in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/model/configuration.h"

namespace stoker {

/// Where samples come from: shares that sum to 1.
struct SampleSources {
  double kept = 0;  // a cache in memory
  double page = 0;  // the system's page cache
  double disk = 0;  // a disk, or a file system of the network
  double store = 0;
};

enum class Epoch : unsigned char { kFirst, kLater };  // while caches fill, and when they have what they can have

struct ResolvedRun {
  double cores = 1;  // of a node, as all that follows
  int nodes = 1, gpus = 1;
  int batch = 1;                  // of each GPU
  double step_s = 0;              // 0: nothing trains
  int threads = 1, io_depth = 1;  // of all loaders together
  int prefetch = 1;
  int transfer_index = -1;
  double kernels_s = 0;                       // of the device, for a sample
  double cpu_s = 0, decode_s = 0;             // of a core, for a sample; decode_s is a part of it
  double bytes = 0, requests = 0, opens = 0;  // of storage, for a sample that comes from there
  double loader_bytes = 0;                    // of memory: batches, and what is read ahead
  bool keeps_decoded = false;                 // what the cache has needs no decoding
  SampleSources first{}, later{};
  double cache_error = 0;  // by which later.page may be off
  std::vector<std::string> assumptions{};

  const SampleSources& sources(Epoch epoch) const { return epoch == Epoch::kFirst ? first : later; }
  double needed_per_s() const { return step_s > 0 ? gpus * batch / step_s : 0; }
};

ResolvedRun resolve(const Facts& facts, const Configuration& change);

}  // namespace stoker
