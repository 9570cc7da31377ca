// Reads files by preadv, each read as one task of an executor: works everywhere, but takes a thread per read in flight.
#pragma once

#include <memory>
#include <utility>

#include "stoker/base/executor.h"
#include "stoker/storage/file_io.h"

namespace stoker {

using PreadvFunction = ssize_t (*)(int fd, const iovec* entries, int count, off_t offset);

/// Does the whole read on the calling thread, save for calling `ended`. `preadv_once` is what a test replaces.
void read_by_preadv(FileRead& read, PreadvFunction preadv_once = ::preadv) noexcept;

/// The same for one range of an open file: what is returned has the count and the error.
FileRead read_by_preadv(int fd, std::uint64_t offset, Pieces into) noexcept;

class PreadIo final : public FileIo {
 public:
  explicit PreadIo(std::shared_ptr<Executor> executor, PreadvFunction preadv_once = ::preadv)
      : executor_(std::move(executor)), preadv_once_(preadv_once) {}

  std::string_view name() const override { return "pread"; }
  /// What a read of ours that ended starts is read next by the same task: to wait there for room in the executor's
  /// queue could be to wait for oneself.
  void start(FileRead& read) override;

 private:
  static void run(void* context) noexcept;

  std::shared_ptr<Executor> executor_;
  PreadvFunction preadv_once_;
};

}  // namespace stoker
