// A folder of the local file system, listed and open.
#pragma once

#include <string>

#include "stoker/storage/folder.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

class LocalFolder final : public Folder {
 public:
  /// Lists the open folder, which messages call `path`. Throws kIo.
  LocalFolder(FileDescriptor folder, std::string path);

  File look_at(std::string_view name) const override;
  std::size_t read(std::string_view name, MutableBytes into) const override;

 private:
  FileDescriptor folder_;
  std::string path_;
};

/// Opens a folder, relative to the open folder `folder` (AT_FDCWD: the working directory). Returns no descriptor, and
/// errno, when it fails.
FileDescriptor open_folder(int folder, const char* path);

/// The path of what is called `name` in a folder, whose path may end in a slash.
std::string path_in(std::string_view folder, std::string_view name);

}  // namespace stoker
