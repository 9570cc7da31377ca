// The file that `--quarantine` names: a list of bad samples, one JSON object a line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/format/bad_sample.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {

/// Replaces an older list whole or not at all; of a symbolic link the target is replaced. A pipe, a device, and the
/// destination of the command's own output are written directly.
class QuarantineList {
 public:
  /// Call it before the work, so that a path that cannot be written is known early. Throws kUsage for a folder, for a
  /// file that is not such a list, and for a path in the folder `not_in` (empty: none); kIo, kNotFound. Waits for the
  /// reader of a pipe.
  explicit QuarantineList(const std::string& path, const std::string& not_in = {});

  /// Once, after the work. Throws kIo naming the path.
  void write(const std::vector<BadSample>& samples);

 private:
  std::optional<AtomicFile> file_;
};

}  // namespace stoker
