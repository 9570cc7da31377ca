// The loader's reader, a thread: draws tickets, grants them memory, and starts reads. What happens when a read has
// ended is done by the thread that ended it.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "stoker/runtime/engine/engine_core.h"
#include "stoker/runtime/engine/read_plan.h"
#include "stoker/storage/intrusive_queue.h"

namespace stoker {

class Reader {
 public:
  /// Of threads that may use so many cores.
  Reader(EngineCore& core, int cores) : core_(core), cores_(cores) {}

  /// Throws kMemory.
  void start();
  /// Once the core is closing: waits for the thread, and for reads under way.
  void join();

  // With the lock held:

  void epoch_started();
  /// There are batches to draw that there were not.
  void wake();
  /// Wakes the thread if there is enough for it to do.
  void wake_if_room();

  struct Starvation {
    std::int64_t began_ns, cpu_ns;
  };
  /// A worker has no ticket, and must wait; nothing if more room to read into would not have changed that.
  std::optional<Starvation> starvation_begins() const;
  void starvation_ends(const Starvation& starvation);

 private:
  void read_loop();
  bool collect(std::unique_lock<std::mutex>& lock);
  void locate_next(std::unique_lock<std::mutex>& lock);
  void grant_located();
  bool read_substitutes(std::unique_lock<std::mutex>& lock);
  void count_located();
  void forget_discarded();
  void wait_for_room(std::unique_lock<std::mutex>& lock);
  bool is_busy() const;
  bool reads_due() const;
  bool runs_dry() const;
  void start_reads(std::unique_lock<std::mutex>& lock);
  bool may_start_read() const;
  PlannedRead* take_read();
  static void start_in_turn(IntrusiveQueue<PlannedRead> reads);
  void read_fields(PlannedRead& read);
  static void read_ended(ReadRequest& request) noexcept;
  static void chain_ended(void* reader, void* last) noexcept;
  void end_reads(PlannedRead* first) noexcept;
  void note_read(const PlannedRead& read) const;
  void trace_read(const PlannedRead& read) const;
  void wake_for_tickets();

  EngineCore& core_;
  const int cores_;

  // Guarded by the core's lock.
  IntrusiveQueue<PlannedRead> urgent_reads_, waiting_reads_;  // planned, and not started: the depth is reached
  PlannedRead* ended_reads_ = nullptr;                        // to be used again
  bool epoch_started_ = false;                                // since the thread looked last

  // The thread's only.
  std::vector<Ticket*> located_;  // drawn and located, waiting for room in this order
  std::size_t located_first_ = 0;
  std::vector<std::int64_t> located_samples_;  // scratch
  const bool is_far_ = !core_.dataset->meters().empty();
  std::deque<Ticket*> substitutes_;  // located, waiting for room as well
  // The same; but while it waits, other threads that may wake it look at these under the lock.
  ReadPlan read_plan_;
  std::size_t round_max_ = 0;     // tickets that are collected before reads are started
  std::uint64_t planned_to_ = 0;  // ReadAhead::near_end() when reads were planned last
  bool plan_waits_ = false;       // since storage was busy

  std::thread thread_;
};

}  // namespace stoker
