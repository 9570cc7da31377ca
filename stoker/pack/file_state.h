// Notices that a file changed while a job read it.
#pragma once

#include <sys/stat.h>

#include <string>

namespace stoker {

class FileState {
 public:
  /// As it is now. Throws kNotFound or kIo.
  explicit FileState(std::string path);
  /// Throws kData if size, time of change or identity are no longer what they were.
  void require_unchanged() const;
  /// What is compared, as text.
  std::string describe() const;

 private:
  std::string path_;
  struct stat facts_;
};

}  // namespace stoker
