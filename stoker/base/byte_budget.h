// Bounds the bytes that threads hold together. A thread that asks waits until there is room; a request above the whole
// budget is granted alone. If one thread makes all requests, they are granted in order; of several waiting threads the
// first whose request fits gets it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace stoker {

class ByteBudget {
 public:
  explicit ByteBudget(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// Bytes that count until it is gone. The budget must outlive it.
  class Grant {
   public:
    Grant() = default;
    Grant(ByteBudget& budget, std::uint64_t bytes) : budget_(&budget), bytes_(bytes) {}
    Grant(Grant&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Grant& operator=(Grant&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Grant() {
      if (budget_) budget_->release(bytes_);
    }

    /// Counts this many bytes from now on, without waiting: the memory already exists.
    void become(std::uint64_t bytes);

   private:
    ByteBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  /// Waits until the bytes are within the budget, or nothing else is granted. Nullopt when asked to stop.
  std::optional<Grant> take(std::uint64_t bytes, const std::stop_token& stop);
  /// The most that was ever granted at once.
  std::uint64_t most() const;

 private:
  void release(std::uint64_t bytes);
  void exchange(std::uint64_t before, std::uint64_t now);

  const std::uint64_t bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;  // the kind that a stop request wakes
  std::uint64_t granted_ = 0, most_ = 0;
};

}  // namespace stoker
