// The resources with which the sources of a data set read their files, and which they share.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "stoker/base/executor.h"
#include "stoker/storage/bounce_pool.h"
#include "stoker/storage/open_files.h"
#include "stoker/storage/pread_io.h"

namespace stoker {

struct FileAccess {
  /// With reads by preadv on the executor.
  explicit FileAccess(std::shared_ptr<Executor> blocking) : FileAccess(blocking, std::make_shared<PreadIo>(blocking)) {}
  FileAccess(std::shared_ptr<Executor> blocking, std::shared_ptr<FileIo> io)
      : executor(std::move(blocking)), file_io(std::move(io)) {}
  /// An executor is enough to read files with.
  template <std::derived_from<Executor> T>
  FileAccess(std::shared_ptr<T> blocking) : FileAccess(std::shared_ptr<Executor>(std::move(blocking))) {}

  std::shared_ptr<Executor> executor;  // for what blocks: opening and reading loose files
  std::shared_ptr<FileIo> file_io;     // for shards
  std::shared_ptr<OpenFiles> open_files = std::make_shared<OpenFiles>();
  std::shared_ptr<BouncePool> bounce_pool = std::make_shared<BouncePool>();
  bool direct = false;  // whether samples are to be read from shards past the page cache
};

}  // namespace stoker
