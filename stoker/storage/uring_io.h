// Reads files by io_uring: any number of reads on their way without a thread for each. One thread, lent by an executor,
// owns the ring: it alone submits reads to the kernel and takes completions.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stoker/base/executor.h"
#include "stoker/base/home_process.h"
#include "stoker/storage/file_io.h"
#include "stoker/storage/posix_file.h"
#include "stoker/tensor/allocator.h"

struct io_uring;  // liburing's: its header stays out of ours

namespace stoker {

/// The calls that a kernel may refuse, which is what a test makes happen.
struct UringCalls {
  int (*set_up)(unsigned entries, io_uring* ring, unsigned flags);
  int (*submit)(io_uring* ring);

  static UringCalls real();
};

struct UringOptions {
  int depth = 128;                             // reads that the kernel has at a time; more wait their turn
  std::size_t submission_bytes = 1 << 30;      // a longer read goes in several submissions
  std::chrono::milliseconds patience{10'000};  // with a kernel that is short of memory "for a moment"
  UringCalls calls = UringCalls::real();
};

class UringIo final : public FileIo {
 public:
  /// Empty when io_uring works in this process; else a sentence that says why not: containers often forbid it.
  static std::string why_not(const UringCalls& calls = UringCalls::real());

  /// Keeps a thread of `executor` until it is destroyed, so it must have one to spare; it begins before this returns.
  /// Throws kIo saying why_not().
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
  using Ended = IntrusiveQueue<FileRead>;

  // The driver's:
  void drive();
  int make_ring();
  bool next_round(Ended& ended);
  void take_completions(Ended& ended);
  void complete(std::size_t number, int result, Ended& ended);
  void wait_for_completions();
  void fill(Ended& ended);
  void prepare(std::size_t number);
  void prepare_wake_up();
  void submit(Ended& ended);
  void pause();
  void fail_unsent(int error, Ended& ended);
  void give_up(int error);
  void end(std::size_t number, int error, Ended& ended);
  bool idle() const;
  bool kernel_has_reads() const;
  void take_wake_up(int result);

  void wake_driver() const;

  const HomeProcess home_;
  const std::shared_ptr<Executor> executor_;
  const UringOptions options_;
  FileDescriptor wake_up_;  // an eventfd that the ring polls: what ends the driver's wait

  std::mutex mutex_;
  std::condition_variable driver_changed_;
  Ended waiting_;               // reads without a slot, as many as callers have started: they take none of our memory
  int broken_ = 0;              // errno once the kernel takes no more submissions: all that follows fails with it
  bool driver_sleeps_ = false;  // and would miss what is new in waiting_
  bool stopping_ = false;
  enum class Driver { kBegins, kRuns, kEnded } driver_ = Driver::kBegins;
  int made_ = 0;  // errno of making the ring

  // The driver's alone, but for the beginning and the end:
  const std::unique_ptr<io_uring> ring_;
  std::vector<Slot> slots_;            // one for each read that the kernel may have
  std::vector<std::size_t> free_;      // of slots_
  std::vector<std::uint64_t> unsent_;  // tags of what is prepared, in order
  Memory sink_;                        // for the bytes of short holes, which are not used
};

}  // namespace stoker
