#include "stoker/tuner/knob_grid.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stoker {
namespace {

constexpr int kThreadsEach = 16;  // up to here every number; then by steps of
constexpr int kThreadsStep = 16;  // a sixteenth

std::vector<int> thread_counts(int most) {
  std::vector<int> counts;
  for (int threads = 1; threads < most; threads += std::max(1, threads >= kThreadsEach ? threads / kThreadsStep : 1)) {
    counts.push_back(threads);
  }
  counts.push_back(most);
  return counts;
}

// `apart`: by what factor the last two differ at least.
std::vector<int> doublings(int most, double apart) {
  std::vector<int> values;
  for (int value = 1; value * apart < most; value *= 2) values.push_back(value);
  values.push_back(most);
  return values;
}

// The last that is no more, or the first.
std::size_t at_most(const std::vector<int>& values, int value) {
  const auto above = std::upper_bound(values.begin(), values.end(), value);
  return above == values.begin() ? 0 : static_cast<std::size_t>(above - values.begin() - 1);
}

// The first that is no less, or the last.
int at_least(const std::vector<int>& values, int value) {
  const auto found = std::lower_bound(values.begin(), values.end(), value);
  return found == values.end() ? values.back() : *found;
}

}  // namespace

KnobGrid::KnobGrid(const TunedWorkload& workload, const TunerLimits& limits) : workload_(workload), limits_(limits) {
  const auto values = [](const std::optional<int>& fixed, std::vector<int> free) {
    return fixed ? std::vector<int>{*fixed} : std::move(free);
  };
  threads_ = values(limits.fixed.threads, thread_counts(limits.threads_max.value_or(threads_max(workload.cores))));
  indices_ = values(limits.fixed.transfer_index, transfer_indices(workload));
  prefetches_ = values(limits.fixed.prefetch, doublings(std::max(1, workload.prefetch_max), 1));
  io_depths_ = values(limits.fixed.io_depth, doublings(std::max(1, workload.io_depth_max), 1.25));
  memory_counts_ = std::any_of(indices_.begin(), indices_.end(), [&](int index) {
    return fits({threads_.front(), index, prefetches_.front(), io_depths_.front()});
  });
  if (!memory_counts_) prefetches_.resize(1);  // nothing does: the code that set the limit complains
}

void KnobGrid::limit_threads(int most) {
  if (!limits_.fixed.threads) threads_ = thread_counts(std::max(1, most));
}

bool KnobGrid::permits(const KnobSetting& knobs) const {
  const auto within = [](int value, const std::vector<int>& values) {
    return value >= values.front() && value <= values.back();
  };
  if (!within(knobs.threads, threads_) || !within(knobs.transfer_index, indices_) ||
      !within(knobs.prefetch, prefetches_) || !within(knobs.io_depth, io_depths_)) {
    return false;
  }
  return !memory_counts_ || fits(knobs);
}

bool KnobGrid::fits(const KnobSetting& knobs) const {
  if (limits_.fits) return limits_.fits(knobs.transfer_index, knobs.prefetch);
  return workload_.memory_bytes == 0 || host_bytes(workload_, knobs) <= static_cast<double>(workload_.memory_bytes);
}

KnobSetting KnobGrid::permitted(const KnobSetting& knobs) const {
  KnobSetting nearest = {threads_[at_most(threads_, knobs.threads)], indices_[at_most(indices_, knobs.transfer_index)],
                         prefetches_[at_most(prefetches_, knobs.prefetch)],
                         io_depths_[at_most(io_depths_, knobs.io_depth)]};
  for (std::size_t i = at_most(prefetches_, knobs.prefetch) + 1; i-- > 0;) {
    nearest.prefetch = prefetches_[i];
    if (permits(nearest)) return nearest;
  }
  for (const int index : indices_) {
    nearest.transfer_index = index;
    if (permits(nearest)) return nearest;
  }
  return nearest;
}

void KnobGrid::add_index(int index, int prefetch, int io_depth, std::vector<KnobSetting>& to) const {
  for (const int threads : threads_) {
    // As many as fit: what crosses may be more at this index than at others.
    for (std::size_t i = at_most(prefetches_, prefetch) + 1; i-- > 0;) {
      const KnobSetting knobs = {threads, index, prefetches_[i], io_depth};
      if (!permits(knobs)) continue;
      to.push_back(knobs);
      break;
    }
  }
}

std::vector<KnobSetting> KnobGrid::first() const {
  std::vector<KnobSetting> all;
  const int prefetch = at_least(prefetches_, kPrefetchFirst), io_depth = at_least(io_depths_, workload_.io_depth_first);
  for (const int index : indices_) add_index(index, prefetch, io_depth, all);
  return all;
}

std::vector<KnobSetting> KnobGrid::around(const KnobSetting& knobs) const {
  std::vector<KnobSetting> all;
  for (const int index : indices_) {
    // It may be for memory that this index has few.
    const int prefetch = index == knobs.transfer_index
                             ? knobs.prefetch
                             : at_least(prefetches_, std::max(knobs.prefetch, kPrefetchFirst));
    add_index(index, prefetch, knobs.io_depth, all);
  }
  // Less prefetch makes nothing faster; less depth does, where a store is crowded.
  add_steps(knobs, &KnobSetting::prefetch, prefetches_, 1, 2, all);
  add_steps(knobs, &KnobSetting::io_depth, io_depths_, -1, 2, all);
  return all;
}

std::vector<KnobSetting> KnobGrid::depths_beside(const KnobSetting& knobs) const {
  std::vector<KnobSetting> all;
  add_steps(knobs, &KnobSetting::io_depth, io_depths_, -1, 1, all);
  return all;
}

// With one knob so many steps away.
void KnobGrid::add_steps(const KnobSetting& knobs, int KnobSetting::*knob, const std::vector<int>& values, int first,
                         int last, std::vector<KnobSetting>& to) const {
  const auto at = static_cast<int>(at_most(values, knobs.*knob));
  for (int step = first; step <= last; ++step) {
    if (step == 0 || at + step < 0 || at + step >= static_cast<int>(values.size())) continue;
    KnobSetting other = knobs;
    other.*knob = values[static_cast<std::size_t>(at + step)];
    if (permits(other)) to.push_back(other);
  }
}

}  // namespace stoker
