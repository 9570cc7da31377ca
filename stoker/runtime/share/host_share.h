// How many threads each of the loaders on a host may use, so that together they do not ask for more than there is: the
// ranks of a training, its evaluation, another experiment. They meet in a table (HostTable), and each works out by
// himself what all others work out, too.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/home_process.h"
#include "stoker/runtime/share/host_table.h"

namespace stoker {

/// Max-min fairness: no loader gets more than it wants; one that wants more than an equal part of what is left gets
/// that part.
/// What does not divide goes to the first of these, one each. Everybody gets at least 1, even if that is more than
/// there is.
std::vector<int> fair_shares(std::span<const int> wants, int total);

/// The table of this user's loaders.
std::string default_host_table();

struct HostShareOptions {
  int threads_max = 0;  // of all loaders on these cores; 0: stoker::threads_max() of their number
  std::string table = default_host_table();
  std::function<std::int64_t()> now_ns = stoker::now_ns;  // the same clock for all processes
};

/// A loader's share of cores among this user's loaders on this host with overlapping cores. It takes part from its
/// first update. Threads: one at a time. A forked child's copy does nothing.
class HostShare {
 public:
  /// A loader that has not reported for so long counts as one thread: it rests, as an evaluation's loader does between
  /// epochs.
  static constexpr int kRestsAfterS = 10;
  /// A loader that has not reported for so long is forgotten: its process may have been killed.
  static constexpr int kForgottenAfterS = 30;

  /// `cores`: the numbers of the cores that its threads may run on; none: they are not known, and it shares with all
  /// loaders. Loaders with overlapping sets share. Without shared memory it does not fail: then only loaders of this
  /// process count.
  explicit HostShare(const std::vector<int>& cores, HostShareOptions options = {});
  ~HostShare();
  HostShare(const HostShare&) = delete;
  HostShare& operator=(const HostShare&) = delete;

  /// `wanted`: the threads that this loader would use if it were alone; 0 or less: not known yet, and it may try all.
  /// Returns the most that it may use now, at least 1 and at most `wanted`. Call it every few seconds while batches are
  /// taken.
  int update(int wanted);
  /// The threads that it would get if it wanted all, at the last update.
  int most() const { return most_; }
  /// Loaders that it shared with at the last update.
  int others() const { return others_; }

 private:
  using Cores = std::array<std::uint64_t, HostSlot::kCoreWords>;

  bool keep_slot(std::uint32_t now_s);
  void take_slot(std::uint32_t now_s);
  bool meets(const HostSlot& other) const;

  const HostShareOptions options_;
  const HomeProcess home_;
  const int threads_max_;
  const std::uint32_t id_;
  Cores cores_{};
  std::optional<HostTable> table_;
  HostSlot* slot_ = nullptr;  // of the table; none before the first update, and where all are taken
  std::uint64_t claim_ = 0;   // what the slot says as long as it is ours
  int share_;
  int most_ = 1;
  int others_ = 0;
};

}  // namespace stoker
