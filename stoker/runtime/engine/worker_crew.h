// How many tickets a worker takes at once, and when a worker that sleeps is woken for them. Waking a thread costs some
// ten microseconds, most of all in a virtual machine: where a sample costs as much (a device decodes it, say), a wake
// for each would be most of the work.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

/// Counts the workers. No threads and no locks: the engine calls it under its own.
///
/// A worker is *at hand* while it works on tickets, since it looks for more afterwards; while it takes a batch through
/// its steps or waits for memory it is *away*; or it *sleeps*. Only one is called at a time. It calls the next itself
/// if there is work left, so that they come as fast as they start to work, and no more come than find any.
class WorkerCrew {
 public:
  /// The most tickets that a worker takes at once.
  static constexpr std::size_t kTicketsMax = 64;

  // --- what tickets cost

  /// A worker took so long for so many tickets, at least one.
  void worked(std::size_t tickets, std::int64_t ns);
  /// Tickets that together are worth waking a worker: those of kWorthWakingNs. 0 where one alone takes as long.
  std::size_t grain() const;
  /// How many of the tickets that wait a worker takes, of so many workers: a part of its equal share, so that no core
  /// runs dry at a batch's end, but no fewer than a grain.
  std::size_t share(std::size_t waiting, int workers) const;
  /// No share is larger.
  std::size_t share_max() const;
  /// A worker tells what it has done when it has worked for so long.
  static constexpr std::int64_t kWorthWakingNs = 200'000;

  // --- where the workers are

  /// A worker starts, or comes back from where it was away.
  void comes() { ++at_hand_; }
  /// It ends, or goes away.
  void goes() { --at_hand_; }
  void falls_asleep() { --at_hand_, ++asleep_; }
  /// For whatever reason: a call is answered by any worker that wakes up.
  void wakes_up() {
    --asleep_, ++at_hand_;
    called_ = false;
  }
  /// Whether one was called, and has not woken up.
  bool called() const { return called_; }

  /// Calls a worker if one sleeps and is needed; true: one that sleeps is to be woken now. Needed is one for more
  /// `tickets` than a grain for each worker at hand, and for any if none is at hand; and for work of another kind
  /// (`other`), which those at hand do last.
  bool call(std::size_t tickets, bool other);

 private:
  std::int64_t ticket_ns_ = kWorthWakingNs;  // as measured lately; before: as if each were worth a call
  int at_hand_ = 0, asleep_ = 0;
  bool called_ = false;
};

}  // namespace stoker
