// The file that `--quarantine` names: a list of bad samples, one JSON object a line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/format/bad_sample.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

/// Takes its place whole or not at all, in place of an older list; what a symbolic link points to is what is replaced.
/// A pipe, a device, and what the command's own output goes to are written through.
class QuarantineList {
 public:
  /// Before the work, so that what cannot be written is known by then. Throws kUsage for a folder, for a file that
  /// holds anything but such a list, and for a place in the folder `not_in` (empty: none), which is not to hold it;
  /// kIo, kNotFound. Waits for the reader of a pipe.
  explicit QuarantineList(const std::string& path, const std::string& not_in = {});

  /// Once, after the work. Throws kIo naming the path.
  void write(const std::vector<BadSample>& samples);

 private:
  std::string path_;
  std::optional<AtomicFile> file_;
  FileDescriptor through_;  // what is no file of its own
};

}  // namespace stoker
