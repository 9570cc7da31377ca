// A folder of loose files: each read names a file by its path relative to the folder, opens it, reads and closes it.
#pragma once

#include "stoker/base/executor.h"
#include "stoker/storage/posix_file.h"
#include "stoker/storage/source.h"

namespace stoker {

class FolderSource final : public Source {
 public:
  /// Opens the folder. Throws kNotFound or kIo.
  FolderSource(std::string root, std::shared_ptr<Executor> executor);

  const std::string& name() const override { return root_; }
  std::uint64_t size(std::string_view part) const override;
  std::unique_ptr<Folder> list(std::string_view part) const override;
  /// Each read blocks a thread, as one task of the executor. What a read that ended starts is read next by the same
  /// task: to wait there for room in the executor's queue could be to wait for oneself.
  void start(ReadRequest& request) override;
  std::string_view io_name() const override { return "pread"; }

 private:
  static void run(void* context) noexcept;
  void read(std::uint64_t offset, Pieces into, std::string_view part) const;
  std::string path_of(std::string_view part) const;

  const std::shared_ptr<Executor> executor_;
  std::string root_;
  FileDescriptor folder_;
};

}  // namespace stoker
