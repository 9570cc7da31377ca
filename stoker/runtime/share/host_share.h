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

/// Max-min fairness: nobody gets more than he wants; who wants more than an equal part of what is left gets that part.
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

/// One loader's place among those of this user's loaders on this host that share cores with it. It has one from its
/// first update. Threads: one at a time. A forked child's copy does nothing.
class HostShare {
 public:
  /// Who was not heard of for so long counts as one thread: he rests, as an evaluation's loader does between epochs.
  static constexpr int kRestsAfterS = 10;
  /// Who was not heard of for so long is forgotten: he may have been killed.
  static constexpr int kForgottenAfterS = 30;

  /// `cores`: numbers of those that its threads may run on; none: nobody knows, and it shares with everybody. Loaders
  /// share where their sets meet. Does not fail for want of shared memory: then only loaders of this process count.
  explicit HostShare(const std::vector<int>& cores, HostShareOptions options = {});
  ~HostShare();
  HostShare(const HostShare&) = delete;
  HostShare& operator=(const HostShare&) = delete;

  /// `wanted`: how many threads this loader would use if it were alone; 0 or less: it has not found out, and may try
  /// all. Returns the most that it may use now, at least 1 and at most what it wants. To be called every few seconds
  /// while batches are taken.
  int update(int wanted);
  /// How many it would get if it wanted all, at the last update.
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
