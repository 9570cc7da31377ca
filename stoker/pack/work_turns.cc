#include "stoker/pack/work_turns.h"

#include <algorithm>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {

std::unique_ptr<WorkTurns::Turn> WorkTurns::next(std::stop_token stop) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Turn> turn(new Turn(*this, next_, std::move(stop)));
  under_way_.insert(next_++);
  return turn;
}

WorkTurns::Turn::~Turn() {
  const std::lock_guard lock(turns_.mutex_);
  turns_.under_way_.erase(number_);
  turns_.used_ -= has_ + held_;
  turns_.changed_.notify_all();
}

std::int64_t WorkTurns::Turn::enter(std::uint64_t bytes) {
  const JobMemory& memory = turns_.memory_;
  if (bytes <= std::max(memory.kept, has_)) return 0;
  if (bytes > memory.oldest) {
    fail(ErrorKind::kMemory,
         "processing it takes {}, but the memory budget leaves {}; a budget (--memory) of {} is enough",
         format_size(static_cast<double>(bytes)), format_size(static_cast<double>(memory.oldest)),
         job_memory_for(0, bytes, turns_.threads_));
  }
  const std::int64_t since = now_ns();
  std::unique_lock lock(turns_.mutex_);
  const auto may = [&] {
    return *turns_.under_way_.begin() == number_ || turns_.used_ - has_ + bytes <= memory.shared;
  };
  if (!turns_.changed_.wait(lock, stop_, may)) fail(ErrorKind::kClosed, "stopped");
  turns_.used_ += bytes - std::exchange(has_, bytes);
  turns_.most_ = std::max(turns_.most_, turns_.used_);
  return now_ns() - since;
}

void WorkTurns::Turn::leave(std::uint64_t held) {
  const std::lock_guard lock(turns_.mutex_);
  turns_.used_ -= std::exchange(has_, 0);
  turns_.used_ += held;
  held_ += held;
  turns_.changed_.notify_all();
}

std::uint64_t WorkTurns::most() const {
  const std::lock_guard lock(mutex_);
  return most_;
}

}  // namespace stoker
