// A source whose reads block a thread: each read runs as one task of an executor.
#pragma once

#include <memory>
#include <utility>

#include "stoker/base/executor.h"
#include "stoker/storage/source.h"

namespace stoker {

class BlockingSource : public Source {
 public:
  /// What a read that ended starts is read next by the same task: to wait there for room in the executor's queue could
  /// be to wait for oneself.
  void start(ReadRequest& request) final;
  std::string_view io_name() const override { return "pread"; }

 protected:
  explicit BlockingSource(std::shared_ptr<Executor> executor) : executor_(std::move(executor)) {}

  /// Fills the segments, or throws. Threads: any, also several at once. Allocates only to throw.
  virtual void read(std::uint64_t offset, Segments into, std::string_view part) const = 0;

 private:
  static void run(void* context) noexcept;

  std::shared_ptr<Executor> executor_;
};

}  // namespace stoker
