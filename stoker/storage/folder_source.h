// A folder of loose files: each read names a file by its path relative to the folder, opens it, reads and closes it.
#pragma once

#include "stoker/storage/blocking_source.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

class FolderSource final : public BlockingSource {
 public:
  /// Opens the folder. Throws kNotFound or kIo.
  FolderSource(std::string root, std::shared_ptr<Executor> executor);

  const std::string& name() const override { return root_; }
  std::uint64_t size(std::string_view part) const override;
  std::unique_ptr<Folder> list(std::string_view part) const override;

 protected:
  void read(std::uint64_t offset, Segments into, std::string_view part) const override;

 private:
  std::string path_of(std::string_view part) const;

  std::string root_;
  FileDescriptor folder_;
};

}  // namespace stoker
