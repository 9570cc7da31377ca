#include "stoker/runtime/share/host_share.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "stoker/base/hash.h"
#include "stoker/base/machine.h"
#include "stoker/tuner/tuned_workload.h"

namespace stoker {
namespace {

int count_threads(std::size_t cores) { return threads_max(cores > 0 ? static_cast<int>(cores) : usable_cores()); }

/// Not 0; another for each loader, but once in billions.
std::uint32_t make_id(const void* self) {
  const auto hash = static_cast<std::uint32_t>(hash64(fmt::format("{} {} {}", ::getpid(), now_ns(), self)));
  return hash != 0 ? hash : 1;
}

std::uint64_t make_claim(std::uint32_t id, std::uint32_t now_s) { return std::uint64_t{id} << 32 | now_s; }

/// Seconds since its owner was heard of. Below 0: he was so after we had looked at the clock.
std::int32_t age_s(std::uint64_t claim, std::uint32_t now_s) {
  return static_cast<std::int32_t>(now_s - static_cast<std::uint32_t>(claim));
}

/// Of a loader that is not forgotten. No clock is ahead of ours by long: such a slot was not written by a loader.
bool is_taken(std::uint64_t claim, std::uint32_t now_s) {
  const std::int32_t age = age_s(claim, now_s);
  return claim >> 32 != 0 && age < HostShare::kForgottenAfterS && age > -HostShare::kForgottenAfterS;
}

}  // namespace

std::vector<int> fair_shares(std::span<const int> wants, int total) {
  std::vector<int> ascending(wants.begin(), wants.end());
  for (int& want : ascending) want = std::max(want, 1);
  std::sort(ascending.begin(), ascending.end());
  auto unsatisfied = static_cast<std::int64_t>(wants.size());
  std::int64_t left = std::max<std::int64_t>(total, unsatisfied);
  for (const int want : ascending) {
    if (want > left / unsatisfied) break;
    left -= want;
    --unsatisfied;
  }
  // A loader that is satisfied wants no more than this part: it only grew since.
  const std::int64_t part = unsatisfied > 0 ? left / unsatisfied : std::numeric_limits<int>::max();
  std::int64_t remainder = unsatisfied > 0 ? left % unsatisfied : 0;
  std::vector<int> shares;
  shares.reserve(wants.size());
  for (const int want : wants) {
    shares.push_back(want <= part ? std::max(want, 1) : static_cast<int>(part + (remainder-- > 0 ? 1 : 0)));
  }
  return shares;
}

std::string default_host_table() { return fmt::format("/stoker-host-1-{}", ::geteuid()); }  // 1: HostSlot's version

HostShare::HostShare(const std::vector<int>& cores, HostShareOptions options)
    : options_(std::move(options)),
      threads_max_(options_.threads_max > 0 ? options_.threads_max : count_threads(cores.size())),
      id_(make_id(this)),
      share_(threads_max_) {
  if (cores.empty()) cores_.fill(~std::uint64_t{0});
  for (const int core : cores) {
    // Beyond what a slot has room for: two that are far apart may count as one.
    const auto bit = static_cast<std::size_t>(core) % (64 * cores_.size());
    cores_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  table_.emplace(options_.table);
}

HostShare::~HostShare() {
  if (slot_ && home_.here()) slot_->claim.compare_exchange_strong(claim_, 0);  // if it is still ours
}

int HostShare::update(int wanted) {
  if (!home_.here()) return share_;
  const int wish = wanted > 0 ? std::min(wanted, threads_max_) : threads_max_;
  const auto now_s = static_cast<std::uint32_t>(options_.now_ns() / 1'000'000'000);
  if (table_->removed()) {
    slot_ = nullptr;
    table_.emplace(options_.table);
  }
  if (!keep_slot(now_s)) take_slot(now_s);
  others_ = 0;
  most_ = threads_max_;
  if (!slot_) return share_ = wish;  // a loader that others do not count does not count them

  // A loader that looks before this is written sees, this once, what the slot's last owner wanted.
  slot_->wanted = wish;
  for (std::size_t i = 0; i < cores_.size(); ++i) slot_->cores[i] = cores_[i];
  std::vector<int> wants;
  std::size_t ours = 0;
  for (const HostSlot& slot : table_->slots()) {
    if (&slot == slot_) {
      ours = wants.size();
      wants.push_back(wish);
      continue;
    }
    const std::uint64_t claim = slot.claim;
    if (!is_taken(claim, now_s) || !meets(slot)) continue;
    wants.push_back(age_s(claim, now_s) < kRestsAfterS ? slot.wanted.load() : 1);
    ++others_;
  }
  share_ = fair_shares(wants, threads_max_)[ours];
  wants[ours] = threads_max_;
  most_ = fair_shares(wants, threads_max_)[ours];
  return share_;
}

/// Says that we are here; false where another has the slot since, to whom we seemed to be gone.
bool HostShare::keep_slot(std::uint32_t now_s) {
  if (!slot_) return false;
  const std::uint64_t claim = make_claim(id_, now_s);
  if (!slot_->claim.compare_exchange_strong(claim_, claim)) {
    slot_ = nullptr;
    return false;
  }
  claim_ = claim;
  return true;
}

void HostShare::take_slot(std::uint32_t now_s) {
  for (HostSlot& slot : table_->slots()) {
    std::uint64_t seen = slot.claim;
    const std::uint64_t claim = make_claim(id_, now_s);
    // If another loader was faster, or its owner woke up, there are other slots.
    if (is_taken(seen, now_s) || !slot.claim.compare_exchange_strong(seen, claim)) continue;
    slot_ = &slot;
    claim_ = claim;
    return;
  }
}

bool HostShare::meets(const HostSlot& other) const {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (cores_[i] & other.cores[i]) return true;
  }
  return false;
}

}  // namespace stoker
