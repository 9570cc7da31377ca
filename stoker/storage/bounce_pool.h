// Aligned buffers between the disk and the memory of requests that are not aligned, as direct reads need: a bounded
// number, used again and again.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/storage/run_in_turn.h"

namespace stoker {

class BouncePool {
 public:
  static constexpr std::size_t kBufferBytes = 1 << 20;
  static constexpr std::size_t kAlignment = 4096;  // of the buffers in memory: a page, more than any device asks for

  /// At most `buffers` of them. A buffer is made when it is first needed, and the system backs only the pages that were
  /// ever read into; the default keeps as many reads going as a ring of io_uring takes.
  explicit BouncePool(int buffers = 128);
  BouncePool(const BouncePool&) = delete;
  BouncePool& operator=(const BouncePool&) = delete;

  /// A buffer, or the wait for one. The borrower keeps it where it is until it was released.
  struct Loan : Waiter {
    MutableBytes buffer;
  };

  /// Whether the loan has its buffer; if not, it waits its turn and is resumed when it has. Throws kMemory when not
  /// even a buffer can be made.
  bool acquire(Loan& loan);
  /// Gives the buffer to the read that has waited longest, and resumes it on this thread.
  void release(Loan& loan) noexcept;

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const;
  };

  const std::size_t buffers_max_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::uint8_t, Free>> buffers_;
  std::vector<std::uint8_t*> free_;
  IntrusiveQueue<Waiter> waiting_;
};

}  // namespace stoker
