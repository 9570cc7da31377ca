// How many tickets a worker takes at once, and when a worker that sleeps is woken for them. Waking a thread costs some
// ten microseconds, most of all in a virtual machine: where a sample costs as much (a device decodes it, say), a wake
// for each would be most of the work.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stoker {

/// Where a worker sleeps.
struct WorkerBed {
  std::condition_variable wake;
  bool called = true;  // its worker is, or is to be, awake
};

/// Counts the workers. It takes no locks: the engine calls it under its own.
///
/// A worker is *at hand* while it works on tickets, since it looks for more afterwards; while it takes a batch through
/// its steps or waits for memory it is *away*; or it *sleeps*. Each call wakes one: that which fell asleep last, in
/// whose core's caches there is most of what it needs. When it has taken its share it calls the next if much is left.
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
  /// Where fewer tickets wait for each worker, it could run dry before more are read.
  std::size_t few() const;
  /// A worker tells what it has done when it has worked for so long.
  static constexpr std::int64_t kWorthWakingNs = 200'000;

  // --- where the workers are

  /// There may be so many workers. May throw; what follows does not.
  void expect(int workers) { asleep_.reserve(static_cast<std::size_t>(workers)); }
  /// A worker starts, or comes back from where it was away.
  void comes() { ++at_hand_; }
  /// It ends, or goes away.
  void goes() { --at_hand_; }
  /// It must wait in its bed until it is called,
  void falls_asleep(WorkerBed& bed);
  /// and then tells that it was.
  void wakes_up();

  /// Calls a worker if one sleeps and is needed: the caller is to notify its bed. Null: none is. Needed is one for more
  /// `tickets` than a grain for each worker at hand, and than those take that were called; and for work of another kind
  /// (`other`), which those at hand do last.
  WorkerBed* call(std::size_t tickets, bool other);
  /// The same, whatever there is to do.
  WorkerBed* call_any();

 private:
  std::int64_t ticket_ns_ = kWorthWakingNs;  // as measured lately; before: as if each were worth a call
  int at_hand_ = 0;
  int called_ = 0;  // and not awake yet
  std::vector<WorkerBed*> asleep_;
};

}  // namespace stoker
