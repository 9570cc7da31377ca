// Several reads under way at once, and one thread that waits for all of them.
#pragma once

#include <condition_variable>
#include <mutex>

#include "stoker/storage/source.h"

namespace stoker {

/// The requests stay the caller's, who looks at their errors after wait(). Their `done` and `context` are the group's.
class ReadGroup {
 public:
  ReadGroup() = default;
  /// Waits for what is under way.
  ~ReadGroup() { wait(); }
  ReadGroup(const ReadGroup&) = delete;
  ReadGroup& operator=(const ReadGroup&) = delete;

  void start(Source& source, ReadRequest& request);
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  int pending_ = 0;
};

}  // namespace stoker
