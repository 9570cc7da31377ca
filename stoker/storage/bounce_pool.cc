#include "stoker/storage/bounce_pool.h"

#include <cassert>
#include <new>

#include "stoker/base/error.h"

namespace stoker {

BouncePool::BouncePool(int buffers) : buffers_max_(static_cast<std::size_t>(buffers)) {
  assert(buffers > 0);
  buffers_.reserve(buffers_max_);
  free_.reserve(buffers_max_);
}

void BouncePool::Free::operator()(std::uint8_t* memory) const {
  ::operator delete(memory, std::align_val_t(kAlignment));
}

bool BouncePool::acquire(Loan& loan) {
  const std::lock_guard lock(mutex_);
  if (free_.empty() && buffers_.size() < buffers_max_) {
    void* const memory = ::operator new(kBufferBytes, std::align_val_t(kAlignment), std::nothrow);
    if (memory) free_.push_back(buffers_.emplace_back(static_cast<std::uint8_t*>(memory)).get());
    if (buffers_.empty()) fail(ErrorKind::kMemory, "there is no memory for a buffer of {} bytes", kBufferBytes);
  }
  if (free_.empty()) {
    waiting_.push(loan);
    return false;
  }
  loan.buffer = {free_.back(), kBufferBytes};
  free_.pop_back();
  return true;
}

void BouncePool::release(Loan& loan) noexcept {
  IntrusiveQueue<Waiter> ready;
  {
    const std::lock_guard lock(mutex_);
    if (Waiter* const waiter = waiting_.pop()) {
      static_cast<Loan*>(waiter)->buffer = loan.buffer;
      ready.push(*waiter);
    } else {
      free_.push_back(loan.buffer.data());
    }
    loan.buffer = {};
  }
  resume_in_turn(ready);
}

}  // namespace stoker
