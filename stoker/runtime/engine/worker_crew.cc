#include "stoker/runtime/engine/worker_crew.h"

#include <algorithm>

namespace stoker {
namespace {

constexpr std::size_t kGrainMax = 16;

// Of its equal share a worker takes one in so many, and at most so many grains or, where a sample takes long, tickets.
constexpr std::size_t kPartOfShare = 4, kGrainsMax = 4, kTicketsAtOnce = 4;

static_assert(kGrainsMax * kGrainMax <= WorkerCrew::kTicketsMax);

constexpr std::int64_t kMeanOver = 16;  // shares

}  // namespace

void WorkerCrew::worked(std::size_t tickets, std::int64_t ns) {
  ticket_ns_ += (ns / static_cast<std::int64_t>(tickets) - ticket_ns_) / kMeanOver;
}

std::size_t WorkerCrew::grain() const {
  if (ticket_ns_ >= kWorthWakingNs) return 0;
  return std::min(static_cast<std::size_t>(kWorthWakingNs / std::max<std::int64_t>(ticket_ns_, 1)), kGrainMax);
}

std::size_t WorkerCrew::share_max() const { return std::max(kGrainsMax * grain(), kTicketsAtOnce); }

std::size_t WorkerCrew::share(std::size_t waiting, int workers) const {
  const std::size_t part = waiting / (kPartOfShare * static_cast<std::size_t>(workers));
  return std::clamp(part, std::max<std::size_t>(grain(), 1), share_max());
}

bool WorkerCrew::call(std::size_t tickets, bool other) {
  if (asleep_ == 0 || called_) return false;
  if (!other && tickets <= static_cast<std::size_t>(at_hand_) * grain()) return false;
  called_ = true;
  return true;
}

}  // namespace stoker
