#include "stoker/base/byte_budget.h"

#include <algorithm>

namespace stoker {

void ByteBudget::Grant::become(std::uint64_t bytes) {
  const std::lock_guard lock(budget_->mutex_);
  budget_->exchange(std::exchange(bytes_, bytes), bytes);
}

std::optional<ByteBudget::Grant> ByteBudget::take(std::uint64_t bytes, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto fits = [&] { return granted_ == 0 || (granted_ <= bytes_max_ && bytes <= bytes_max_ - granted_); };
  if (!changed_.wait(lock, stop, fits)) return std::nullopt;
  exchange(0, bytes);
  return Grant(*this, bytes);
}

std::uint64_t ByteBudget::most() const {
  const std::lock_guard lock(mutex_);
  return most_;
}

void ByteBudget::release(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  exchange(bytes, 0);
}

/// Under the lock.
void ByteBudget::exchange(std::uint64_t before, std::uint64_t now) {
  granted_ = granted_ - before + now;
  most_ = std::max(most_, granted_);
  if (now < before) changed_.notify_all();
}

}  // namespace stoker
