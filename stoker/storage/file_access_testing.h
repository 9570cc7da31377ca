// The ways to read files, for tests that hold for each.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/pread_io.h"
#include "stoker/storage/temp_folder_testing.h"
#include "stoker/storage/thread_executor_testing.h"
#include "stoker/storage/uring_io.h"

namespace stoker {

struct FileWay {
  std::string name;
  bool uring = false;
  bool direct = false;
};

inline const FileWay kFileWays[] = {
    {"Pread", false, false}, {"PreadDirect", false, true}, {"Uring", true, false}, {"UringDirect", true, true}};

/// Why this machine cannot read so; empty when it can.
inline std::string why_not(const FileWay& way) {
  if (way.uring && !UringIo::why_not().empty()) return UringIo::why_not();
  if (!way.direct) return "";
  const TempFolder folder;
  try {
    const FileSource source(folder.write("f", "12345"), std::make_shared<InlineExecutor>(), {.direct = true});
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

/// Access to files in the way given; io_uring gets a thread of its own.
inline FileAccess access_by(const FileWay& way, std::shared_ptr<Executor> executor) {
  if (!way.uring) return FileAccess(std::move(executor));
  return {std::move(executor), std::make_shared<UringIo>(std::make_shared<ThreadExecutor>(1))};
}

}  // namespace stoker
