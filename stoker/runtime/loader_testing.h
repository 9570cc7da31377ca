// Data sets in memory for the loader's tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/metrics.h"
#include "stoker/storage/faulty_source_testing.h"

namespace stoker {

struct MemoryDatasetOptions {
  int samples = 50;
  int width = 40, height = 30;
  std::vector<int> bad{};    // samples whose bytes are garbage
  FaultyOptions faults{};    // in front of the memory
  bool tiny = false;         // all samples share one small image: quick
  bool indexed = false;      // with entry points
  bool concealed = false;    // an index says that faults of all images are concealed
  std::size_t gap = 20'000;  // between two samples: too much for both to be read at once
};

struct MemoryDataset {
  std::shared_ptr<FaultySource> source;
  std::shared_ptr<const Dataset> dataset;
};

/// One shard in memory: sample i has key "sample<i>" and label i % 7.
MemoryDataset memory_dataset(const MemoryDatasetOptions& options = {});

/// A recipe with random numbers in it, and small outputs.
Recipe small_recipe();

/// One line per delivered sample: epoch, position, key, and a hash of its outputs.
std::vector<std::string> audit_of(const Batch& batch);
/// The lines of epochs 0 .. epochs - 1.
std::vector<std::string> audit_of(Loader& loader, int epochs);

}  // namespace stoker
