#include "stoker/pack/byte_budget.h"

#include <algorithm>

namespace stoker {

void ByteBudget::Grant::grow(std::uint64_t bytes) {
  bytes_ += bytes;
  const std::lock_guard lock(budget_->mutex_);
  budget_->add(bytes);
}

std::optional<ByteBudget::Grant> ByteBudget::take(std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [&] { return closed_ || granted_ == 0 || (granted_ <= bytes_max_ && bytes <= bytes_max_ - granted_); });
  if (closed_) return std::nullopt;
  add(bytes);
  return Grant(*this, bytes);
}

void ByteBudget::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::uint64_t ByteBudget::most() const {
  const std::lock_guard lock(mutex_);
  return most_;
}

void ByteBudget::add(std::uint64_t bytes) {
  granted_ += bytes;
  most_ = std::max(most_, granted_);
}

void ByteBudget::give_back(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  granted_ -= bytes;
  changed_.notify_all();
}

}  // namespace stoker
