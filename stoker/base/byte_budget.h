// Bounds the bytes that threads hold together. Who asks waits until there is room, and what is more than all of it is
// granted alone. One thread that asks for all is granted in its order; of several that ask, whoever fits first.
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
      if (budget_) budget_->give_back(bytes_);
    }

    /// Counts so many from now on, without waiting: what is there already cannot wait to be made.
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
  void give_back(std::uint64_t bytes);
  void exchange(std::uint64_t before, std::uint64_t now);

  const std::uint64_t bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;  // the kind that a stop request wakes
  std::uint64_t granted_ = 0, most_ = 0;
};

}  // namespace stoker
