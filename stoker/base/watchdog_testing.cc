#include "stoker/base/watchdog_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace stoker {
namespace {

std::string running_test() {
  const testing::TestInfo* const info = testing::UnitTest::GetInstance()->current_test_info();
  return info ? fmt::format("{}.{}", info->test_suite_name(), info->name()) : "a program that runs no test";
}

}  // namespace

Watchdog::Watchdog(std::chrono::milliseconds round_max)
    : round_max_(round_max), test_(running_test()), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::begin(std::string round) {
  {
    const std::lock_guard lock(mutex_);
    round_ = std::move(round);
    ++rounds_;
  }
  changed_.notify_all();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    const auto goes_on = [this, round = rounds_] { return over_ || rounds_ != round; };
    if (changed_.wait_for(lock, round_max_, goes_on)) continue;
    std::fprintf(stderr, "%s hangs: %s has taken %d ms\n", test_.c_str(), round_.empty() ? "it" : round_.c_str(),
                 static_cast<int>(round_max_.count()));
    std::abort();
  }
}

}  // namespace stoker
