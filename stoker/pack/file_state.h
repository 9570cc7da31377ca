// Notices that a file changed while a job read it.
#pragma once

#include <string>

#include "stoker/storage/stores.h"

namespace stoker {

class FileState {
 public:
  /// As it is now. Throws kNotFound or kIo. The stores must outlive it.
  FileState(const Stores& stores, Location file);
  /// Throws kData if size, time of change or identity are no longer what they were.
  void require_unchanged() const;
  /// What is compared, as text.
  const std::string& version() const { return version_; }

 private:
  const Stores* stores_;
  Location file_;
  std::string version_;
};

}  // namespace stoker
