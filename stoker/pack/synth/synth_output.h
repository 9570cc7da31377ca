// The output of a synthetic data set: a folder of classes, or tar shards.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stoker/base/bytes.h"

namespace stoker {

struct SynthSample {
  std::string class_name;
  std::string name;       // within the class
  std::string extension;  // "jpg"
  std::int64_t label = 0;
  Bytes image;
};

/// Destroyed before finish(), an output removes all that it created.
class SynthOutput {
 public:
  virtual ~SynthOutput() = default;
  /// Samples come in the order of their class names, then of their names. Throws kIo naming the path.
  virtual void add(const SynthSample& sample) = 0;
  virtual void finish() = 0;
};

/// `out` must not exist or be an empty folder; throws kUsage when it is taken.
std::unique_ptr<SynthOutput> make_folder_output(const std::string& out);

/// One tar if `out` ends in ".tar", else the folder `out` of shard-000000.tar, ... with `samples_per_shard` samples
/// each.
std::unique_ptr<SynthOutput> make_tar_output(const std::string& out, std::int64_t samples_per_shard = 1000);

}  // namespace stoker
