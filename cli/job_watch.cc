#include "cli/job_watch.h"

#include "stoker/base/clock.h"

namespace stoker {

JobWatch::JobWatch(Interrupts& interrupts, std::string_view what, std::string_view unit, std::int64_t unit_size)
    : what_(what), unit_(unit), unit_size_(unit_size), began_ns_(now_ns()), scope_(interrupts, [this] {
        stop_.request_stop();
      }) {}

std::function<void(std::int64_t done, std::int64_t total)> JobWatch::progress() {
  return [this](std::int64_t done, std::int64_t total) {
    if (!progress_) progress_.emplace(what_, unit_, total / unit_size_, done / unit_size_);
    progress_->update(done / unit_size_, total / unit_size_);
  };
}

double JobWatch::seconds() const { return static_cast<double>(now_ns() - began_ns_) * 1e-9; }

}  // namespace stoker
