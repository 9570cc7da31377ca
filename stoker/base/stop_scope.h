// What a thread waits for can be stopped from another one, also where no stop token was handed down to it.
#pragma once

#include <stop_token>
#include <utility>

namespace stoker {

/// While it lives, reads and calls that this thread starts, and waits for, end with kClosed once a stop is requested,
/// unless they have a token of their own.
class StopScope {
 public:
  explicit StopScope(std::stop_token stop) : outer_(std::exchange(current(), std::move(stop))) {}
  ~StopScope() { current() = std::move(outer_); }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  /// This thread's; one that is never requested outside of all scopes.
  static std::stop_token& current() {
    thread_local std::stop_token stop;
    return stop;
  }

 private:
  std::stop_token outer_;
};

}  // namespace stoker
