// Reads files by io_uring: any number of reads on their way without a thread for each. One thread, lent by an executor,
// takes what the kernel has done.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stoker/base/executor.h"
#include "stoker/base/home_process.h"
#include "stoker/storage/file_io.h"
#include "stoker/tensor/allocator.h"

struct io_uring;  // liburing's: its header stays out of ours
struct io_uring_sqe;

namespace stoker {

/// The calls that a kernel may refuse, which is what a test makes happen.
struct UringCalls {
  int (*set_up)(unsigned entries, io_uring* ring, unsigned flags);
  int (*submit)(io_uring* ring);

  static UringCalls real();
};

struct UringOptions {
  int depth = 128;                         // reads that the kernel has at a time; more wait their turn
  std::size_t submission_bytes = 1 << 30;  // a longer read goes in several submissions
  UringCalls calls = UringCalls::real();
};

class UringIo final : public FileIo {
 public:
  /// Empty when io_uring works in this process; else a sentence that says why not: containers often forbid it.
  static std::string why_not(const UringCalls& calls = UringCalls::real());

  /// Keeps a thread of `executor` until it is destroyed, so it must have one to spare. Throws kIo saying why_not().
  explicit UringIo(std::shared_ptr<Executor> executor, const UringOptions& options = {});
  /// Waits until that thread is done with this. No read may be under way. Not to be called from `ended`, on that
  /// thread.
  ~UringIo() override;
  UringIo(const UringIo&) = delete;
  UringIo& operator=(const UringIo&) = delete;

  std::string_view name() const override { return "io_uring"; }
  /// In a forked child, which has no business with its parent's ring, the calling thread reads.
  void start(FileRead& read) override;

 private:
  struct Slot;

  void reap();
  void use_completions(IntrusiveQueue<FileRead>& ended);
  void fill(IntrusiveQueue<FileRead>& ended);
  void prepare(std::size_t number);
  void prepare_wake_up();
  void submit(IntrusiveQueue<FileRead>& ended);
  void end(std::size_t number, int error, IntrusiveQueue<FileRead>& ended);
  bool idle() const;

  const HomeProcess home_;
  const std::shared_ptr<Executor> executor_;
  const UringOptions options_;
  const std::unique_ptr<io_uring> ring_;

  std::mutex mutex_;  // over the submission queue and all below; the completion queue is the reaper's
  std::condition_variable reaper_ended_;
  std::vector<Slot> slots_;            // one for each read that the kernel may have
  std::vector<std::size_t> free_;      // slots
  IntrusiveQueue<FileRead> waiting_;   // as many as callers have started: it takes none of our memory
  std::vector<io_uring_sqe*> unsent_;  // prepared, in order
  Memory sink_;                        // for the bytes of short holes, which nobody looks at
  int broken_ = 0;  // errno once the kernel takes no more submissions: all that follows fails with it
  bool stopping_ = false;
  bool reaping_ = true;

  struct Completion {
    std::uint64_t tag;
    int result;
  };
  std::vector<Completion> completions_;  // the reaper's
};

}  // namespace stoker
