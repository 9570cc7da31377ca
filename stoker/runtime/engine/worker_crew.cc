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

std::size_t WorkerCrew::share(std::size_t waiting, int workers) const {
  const std::size_t part = waiting / (kPartOfShare * static_cast<std::size_t>(workers));
  const std::size_t each = grain();
  return std::clamp(part, std::max<std::size_t>(each, 1), std::max(kGrainsMax * each, kTicketsAtOnce));
}

std::size_t WorkerCrew::few() const { return std::max(grain(), kTicketsAtOnce); }

void WorkerCrew::falls_asleep(WorkerBed& bed) {
  --at_hand_;
  bed.called = false;
  asleep_.push_back(&bed);
}

void WorkerCrew::wakes_up() {
  --called_;
  ++at_hand_;
}

WorkerBed* WorkerCrew::call(std::size_t tickets, bool other) {
  const std::size_t each = grain(), at_hand = static_cast<std::size_t>(at_hand_);
  const std::size_t cared_for = at_hand * each + static_cast<std::size_t>(called_) * std::max<std::size_t>(each, 1);
  return tickets > cared_for || (other && called_ == 0) ? call_any() : nullptr;
}

WorkerBed* WorkerCrew::call_any() {
  if (asleep_.empty()) return nullptr;
  WorkerBed& bed = *asleep_.back();
  asleep_.pop_back();
  bed.called = true;
  ++called_;
  return &bed;
}

}  // namespace stoker
