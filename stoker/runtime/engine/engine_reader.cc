// The engine's reader: draws tickets, grants them memory, and starts reads; and what happens when a read has ended.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/threads.h"
#include "stoker/runtime/engine/engine.h"

namespace stoker {

// The reader finds out where this many samples lie at once, so that what it must read of an index is read together.
constexpr std::size_t kTicketsLocatedAtOnce = 64;

// And it collects at most so many before it starts reads, having begun with few: by then there is little to be gained.
constexpr std::size_t kTicketsCollectedMax = std::size_t{1} << 16;

void Loader::Engine::read_loop() {
  run_on(cores_.cores);
  name_this_thread("stoker-reader");
  std::unique_lock lock(mutex_);
  try {
    while (!closing_) {
      if (collect(lock) || reads_due() || may_start_read()) {
        start_reads(lock);
      } else {
        wait_for_room(lock);
      }
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    fail_with(std::current_exception());
  }
}

// Draws tickets and grants them their bytes while there are any and there is room. The more are collected, the more of
// them lie side by side; but an epoch's first rounds are short, so that its first batch does not wait. Returns whether
// there were any.
bool Loader::Engine::collect(std::unique_lock<std::mutex>& lock) {
  bool any = false;
  std::size_t collected = 0;
  do {
    if (epoch_started_) forget_discarded();
    while (Ticket* ticket = board_.again(now_ns())) {
      read_plan_.add_alone(*ticket);
      any = true;
    }
    any |= read_substitutes(lock);
    if (located_first_ == located_.size()) locate_next(lock);
    const std::size_t before = located_first_;
    grant_located();
    collected += located_first_ - before;
  } while (!closing_ && !located_.empty() && located_first_ == located_.size() && collected < round_max_);
  round_max_ = std::min(2 * round_max_, kTicketsCollectedMax);
  return any || collected > 0;
}

// Tickets of an epoch that was left do not wait to be read.
void Loader::Engine::forget_discarded() {
  epoch_started_ = false;
  round_max_ = kTicketsLocatedAtOnce;
  read_plan_.forget_if([](const Ticket& ticket) { return ticket.work->discarded; },
                       [&](Ticket& ticket) { board_.read_done(ticket); });
}

// Draws the next tickets and finds where their samples lie, with the lock let go: an index may have to be read.
void Loader::Engine::locate_next(std::unique_lock<std::mutex>& lock) {
  located_.clear();
  located_samples_.clear();
  located_first_ = 0;
  while (located_.size() < kTicketsLocatedAtOnce) {
    Ticket* ticket = board_.draw();
    if (board_.front_lacks_memory()) consumer_wakes_.notify_all();
    if (!ticket) break;
    located_.push_back(ticket);
    if (!ticket->padding()) located_samples_.push_back(ticket->sample);
  }
  wake_worker();  // batches want memory
  if (located_.empty()) return;
  observe();
  lock.unlock();
  dataset_->prepare(located_samples_);
  for (Ticket* ticket : located_) board_.locate(*ticket);
  lock.lock();
}

// Of samples that stand in for bad ones: locates them, grants them their bytes as far as there is room, and has them
// read. Returns whether there were any. They are few, and one of them holds up a batch.
bool Loader::Engine::read_substitutes(std::unique_lock<std::mutex>& lock) {
  const std::size_t located = substitutes_.size();
  while (Ticket* ticket = board_.substitute()) substitutes_.push_back(ticket);
  if (substitutes_.empty()) return false;
  lock.unlock();
  for (std::size_t i = located; i < substitutes_.size(); ++i) {
    dataset_->prepare(std::span(&substitutes_[i]->sample, 1));
    board_.locate(*substitutes_[i]);
  }
  lock.lock();
  bool any = false;
  for (; !substitutes_.empty() && board_.grant(*substitutes_.front()); substitutes_.pop_front()) {
    Ticket& ticket = *substitutes_.front();
    any = true;
    if (ticket.reads_pending > 0) {
      read_plan_.add_alone(ticket);
    } else {
      board_.read_done(ticket);
      wake_worker();
    }
  }
  return any;
}

// Gives bytes to the located tickets as far as there is room.
void Loader::Engine::grant_located() {
  for (; located_first_ < located_.size(); ++located_first_) {
    Ticket& ticket = *located_[located_first_];
    if (!board_.grant(ticket)) break;
    if (ticket.reads_pending > 0) {
      read_plan_.add(ticket);
    } else {
      board_.read_done(ticket);
      wake_worker();
    }
  }
}

void Loader::Engine::wait_for_room(std::unique_lock<std::mutex>& lock) {
  if (board_.has_again()) return;  // since the lock was let go, to find samples: nobody wakes who does not wait
  reader_waits_ = true;
  observe();
  const auto is_woken = [&] { return closing_ || !reader_waits_; };
  if (const std::optional<std::int64_t> again_ns = board_.next_again_ns()) {
    const std::chrono::steady_clock::time_point due{std::chrono::nanoseconds(*again_ns)};
    reader_wakes_.wait_until(lock, due, is_woken);
  } else {
    reader_wakes_.wait(lock, is_woken);
  }
  reader_waits_ = false;
}

// Whether tickets that waited have come so near to the front that more reads should be started.
bool Loader::Engine::reads_due() const {
  return read_plan_.waiting() && board_.near_end() >= planned_to_ + board_.near_bytes() / 4;
}

void Loader::Engine::start_reads(std::unique_lock<std::mutex>& lock) {
  planned_to_ = board_.near_end();
  read_plan_.take_back(std::exchange(ended_reads_, nullptr));
  lock.unlock();
  const std::span<PlannedRead* const> reads = read_plan_.plan(planned_to_);
  for (PlannedRead* read : reads) {
    read->engine = this;
    read->request.context = read;
    read->request.done = &read_ended;
  }
  lock.lock();
  for (PlannedRead* read : reads) (read->urgent ? urgent_reads_ : waiting_reads_).push(*read);
  reads_waiting_ += reads.size();
  IntrusiveQueue<PlannedRead> now;
  while (PlannedRead* const read = take_read()) now.push(*read);
  if (now.empty()) return;
  observe();
  lock.unlock();
  start_in_turn(now);
  lock.lock();
}

bool Loader::Engine::may_start_read() const {
  return reads_waiting_ > 0 && reads_in_flight_ < static_cast<std::size_t>(io_depth_) && !closing_;
}

// The next read to be started, which counts as under way from here on; null if none may be. The lock is held.
PlannedRead* Loader::Engine::take_read() {
  while (may_start_read()) {
    PlannedRead& read = *(urgent_reads_.empty() ? waiting_reads_ : urgent_reads_).pop();
    --reads_waiting_;
    bool wanted = false;
    for (const FieldRead* field = read.fields; field; field = field->next) wanted |= !field->ticket->work->discarded;
    if (wanted) {
      ++reads_in_flight_;
      return &read;
    }
    read_fields(read);
  }
  return nullptr;
}

namespace {

// The reads of an engine that this thread is starting. One may end before it has started, and make room for another:
// that comes after it, not within it, however many there are.
struct StartTurn {
  const void* engine;
  IntrusiveQueue<PlannedRead> reads;
  StartTurn* outer;
};
thread_local StartTurn* t_turn = nullptr;

}  // namespace

// Starts reads that were taken, one at least. When it returns they, and the engine, may be gone.
void Loader::Engine::start_in_turn(IntrusiveQueue<PlannedRead> reads) {
  const void* const engine = reads.front()->engine;
  for (StartTurn* turn = t_turn; turn; turn = turn->outer) {
    if (turn->engine == engine) return turn->reads.append(reads);
  }
  StartTurn turn{engine, reads, t_turn};
  t_turn = &turn;
  while (PlannedRead* const read = turn.reads.pop()) read->source->start(read->request);
  t_turn = turn.outer;
}

void Loader::Engine::read_ended(ReadRequest& request) noexcept {
  PlannedRead& read = *static_cast<PlannedRead*>(request.context);
  auto& engine = *static_cast<Engine*>(read.engine);
  engine.metrics_.add(Metric::kReads, 1);
  if (!request.error) {
    engine.metrics_.add(Metric::kBytesRead, static_cast<std::int64_t>(read.wanted));
    engine.metrics_.add(Metric::kBytesFetched, static_cast<std::int64_t>(request.length()));
  }
  IntrusiveQueue<PlannedRead> next;
  {
    const std::lock_guard lock(engine.mutex_);
    --engine.reads_in_flight_;
    if (PlannedRead* const taken = engine.take_read()) next.push(*taken);
    engine.read_fields(read);
    engine.observe();
    if (engine.reads_in_flight_ == 0) engine.reads_end_.notify_all();
  }
  if (!next.empty()) start_in_turn(next);  // else the engine may be gone by now
}

// The fields of a read that has ended, or that nobody wants any more, are there as far as it is concerned.
void Loader::Engine::read_fields(PlannedRead& read) {
  for (FieldRead *field = read.fields, *next = nullptr; field; field = next) {
    next = field->next;  // once its last field was read the ticket may be used again
    Ticket& ticket = *field->ticket;
    if (read.request.error) {
      if (!ticket.error) ticket.error = read.request.error;
      ticket.error_shared |= read.shared;
    }
    if (--ticket.reads_pending == 0) ticket_read(ticket);
  }
  read.next = std::exchange(ended_reads_, &read);
}

void Loader::Engine::ticket_read(Ticket& ticket) {
  board_.read_done(ticket);
  wake_worker();
  wake_reader_if_room();  // a ticket that nobody wants any more gave its bytes back
}

// The reader sleeps until a good part of the read-ahead is free again, or until workers could run dry: waking it for
// every sample would cost more than it reads. A larger part would leave windows undrawn when they are to be read.
void Loader::Engine::wake_reader_if_room() {
  if (!reader_waits_) return;
  if (!reads_due() && !board_.has_again() && !may_start_read()) {
    const bool much_room = board_.read_ahead_used() + board_.near_bytes() / 4 <= board_.read_ahead_max();
    const std::size_t work = board_.ready_count() + reads_in_flight_ + reads_waiting_;
    const bool little_work = work <= kTicketsAtOnce * static_cast<std::size_t>(worker_target_);
    if (!much_room && !little_work) return;
    if (!board_.may_go_on()) return;
  }
  reader_waits_ = false;
  reader_wakes_.notify_one();
}

}  // namespace stoker
