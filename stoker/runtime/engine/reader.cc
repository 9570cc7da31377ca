#include "stoker/runtime/engine/reader.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/threads.h"
#include "stoker/storage/completion_round.h"
#include "stoker/storage/run_in_turn.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

// The reader finds out where this many samples lie at once, so that what it must read of an index is read together. Of
// data behind a network more than at the beginning, when a first batch waits: each time takes a round trip.
constexpr std::size_t kTicketsLocatedAtOnce = 64, kTicketsLocatedFar = 512;

// And it collects at most so many before it starts reads, having begun with few: by then there is little to be gained.
constexpr std::size_t kTicketsCollectedMax = std::size_t{1} << 16;

constexpr std::size_t kReadsFew = 64;  // under way in a distant store

// Reads that end together wait for each other, but workers not for the copies of more than this.
constexpr std::uint64_t kBytesEndedAtOnce = 1 << 20;

}  // namespace

void Reader::start() {
  translate_thread_errors([&] { thread_ = std::thread([this] { read_loop(); }); });
}

void Reader::join() {
  if (thread_.joinable()) thread_.join();
  // Reads under way write into our memory: they must end before it goes.
  std::unique_lock lock(core_.mutex);
  core_.reads_end.wait(lock, [&] { return core_.reads_in_flight == 0; });
  core_.observe();
}

void Reader::epoch_started() {
  epoch_started_ = true;
  wake();
}

void Reader::wake() {
  core_.reader_waits = false;
  core_.reader_wakes.notify_one();
}

void Reader::read_loop() {
  run_on(core_.cores.cores);
  name_this_thread("stoker-reader");
  std::unique_lock lock(core_.mutex);
  try {
    while (!core_.closing) {
      if (collect(lock) || reads_due() || may_start_read()) {
        start_reads(lock);
      } else {
        wait_for_room(lock);
      }
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    core_.fail_with(std::current_exception());
  }
}

// Draws tickets and grants them their bytes while there are any and there is room. The more are collected, the more of
// them lie side by side; but an epoch's first rounds are short, so that its first batch does not wait. Returns whether
// there were any.
bool Reader::collect(std::unique_lock<std::mutex>& lock) {
  bool any = false;
  std::size_t collected = 0;
  do {
    if (epoch_started_) forget_discarded();
    while (Ticket* ticket = core_.board.read_ahead.again(now_ns())) {
      read_plan_.add_alone(*ticket);
      any = true;
    }
    any |= read_substitutes(lock);
    if (located_first_ == located_.size()) locate_next(lock);
    const std::size_t before = located_first_;
    grant_located();
    collected += located_first_ - before;
  } while (!core_.closing && !located_.empty() && located_first_ == located_.size() && collected < round_max_);
  round_max_ = std::min(2 * round_max_, kTicketsCollectedMax);
  return any || collected > 0;
}

// Tickets of an epoch that was left do not wait to be read.
void Reader::forget_discarded() {
  epoch_started_ = false;
  round_max_ = kTicketsLocatedAtOnce;
  read_plan_.forget_if([](const Ticket& ticket) { return ticket.work->discarded; },
                       [&](Ticket& ticket) { core_.board.tickets.read_done(ticket); });
}

// Draws the next tickets and finds where their samples lie, with the lock released: an index may have to be read.
void Reader::locate_next(std::unique_lock<std::mutex>& lock) {
  located_.clear();
  located_samples_.clear();
  located_first_ = 0;
  const std::size_t most =
      is_far_ ? std::clamp(round_max_, kTicketsLocatedAtOnce, kTicketsLocatedFar) : kTicketsLocatedAtOnce;
  while (located_.size() < most) {
    Ticket* ticket = core_.board.tickets.draw();
    if (core_.board.tickets.front_lacks_memory()) core_.consumer_wakes.notify_all();
    if (!ticket) break;
    located_.push_back(ticket);
    if (!ticket->padding()) located_samples_.push_back(ticket->sample);
  }
  count_located();
  core_.wake_worker();  // batches want memory
  if (located_.empty()) return;
  core_.observe();
  const std::int64_t batches_per_epoch = core_.board.order.batches_per_epoch();
  lock.unlock();
  core_.dataset->prepare(located_samples_);
  for (Ticket* ticket : located_) {
    if (core_.disk_cache) core_.disk_cache->reading(ticket->work->epoch, ticket->work->index, batches_per_epoch);
  }
  core_.board.locator.locate(located_);
  lock.lock();
}

// Of samples that stand in for bad ones: locates them, grants them their bytes as far as there is room, and has them
// read. Returns whether there were any. They are few, and one of them holds up a batch.
bool Reader::read_substitutes(std::unique_lock<std::mutex>& lock) {
  const std::size_t located = substitutes_.size();
  while (Ticket* ticket = core_.board.read_ahead.substitute()) substitutes_.push_back(ticket);
  if (substitutes_.empty()) return false;
  lock.unlock();
  for (std::size_t i = located; i < substitutes_.size(); ++i) {
    core_.dataset->prepare(std::span(&substitutes_[i]->sample, 1));
    core_.board.locator.locate(*substitutes_[i]);
  }
  lock.lock();
  bool any = false;
  for (; !substitutes_.empty() && core_.board.read_ahead.grant(*substitutes_.front()); substitutes_.pop_front()) {
    Ticket& ticket = *substitutes_.front();
    any = true;
    if (ticket.reads_pending > 0) {
      read_plan_.add_alone(ticket);
    } else {
      core_.board.tickets.read_done(ticket);
      core_.wake_worker();
    }
  }
  count_located();
  return any;
}

// Gives bytes to the located tickets as far as there is room.
void Reader::grant_located() {
  for (; located_first_ < located_.size(); ++located_first_) {
    Ticket& ticket = *located_[located_first_];
    if (!core_.board.read_ahead.grant(ticket)) break;
    if (ticket.reads_pending > 0) {
      read_plan_.add(ticket);
    } else {
      core_.board.tickets.read_done(ticket);
    }
  }
  count_located();
  core_.wake_worker();
}

void Reader::count_located() { core_.located = located_.size() - located_first_ + substitutes_.size(); }

void Reader::wait_for_room(std::unique_lock<std::mutex>& lock) {
  // While the lock was released to find samples, nothing could wake this thread.
  if (core_.board.read_ahead.has_again()) return;
  core_.reader_waits = true;
  core_.observe();
  const auto is_woken = [&] { return core_.closing || !core_.reader_waits; };
  if (const std::optional<std::int64_t> again_ns = core_.board.read_ahead.next_again_ns()) {
    const std::chrono::steady_clock::time_point due{std::chrono::nanoseconds(*again_ns)};
    core_.reader_wakes.wait_until(lock, due, is_woken);
  } else {
    core_.reader_wakes.wait(lock, is_woken);
  }
  core_.reader_waits = false;
}

// Whether storage has enough to do for a while: what would be planned now would only wait to be started, and may as
// well wait for its neighbours to be drawn.
bool Reader::is_busy() const { return core_.reads_waiting > static_cast<std::size_t>(core_.io_depth / 2); }

// Whether tickets that waited have come so near to the front that more reads should be started.
bool Reader::reads_due() const {
  const ReadAhead& read_ahead = core_.board.read_ahead;
  if (!read_plan_.waiting() || is_busy()) return false;
  return plan_waits_ || runs_dry() || read_ahead.near_end() >= planned_to_ + read_ahead.near_bytes() / 4;
}

// Whether a distant store has little to do while there is memory to read into: what waits for neighbours is read then.
bool Reader::runs_dry() const { return is_far_ && core_.reads_waiting == 0 && core_.reads_in_flight < kReadsFew; }

void Reader::start_reads(std::unique_lock<std::mutex>& lock) {
  const ReadAhead& read_ahead = core_.board.read_ahead;
  plan_waits_ = is_busy();
  if (!plan_waits_) {
    const std::uint64_t further = runs_dry() ? planned_to_ + read_ahead.near_bytes() / 4 : 0;
    planned_to_ = std::max(read_ahead.near_end(), std::min(further, read_ahead.end()));
  }
  read_plan_.release(std::exchange(ended_reads_, nullptr));
  lock.unlock();
  const std::span<PlannedRead* const> reads = plan_waits_ ? read_plan_.plan_urgent() : read_plan_.plan(planned_to_);
  for (PlannedRead* read : reads) {
    read->engine = this;
    read->request.context = read;
    read->request.done = &read_ended;
    read->request.stop = core_.stop_reads.get_token();
  }
  lock.lock();
  for (PlannedRead* read : reads) (read->urgent ? urgent_reads_ : waiting_reads_).push(*read);
  core_.reads_waiting += reads.size();
  IntrusiveQueue<PlannedRead> now;
  while (PlannedRead* const read = take_read()) now.push(*read);
  if (now.empty()) return;
  core_.observe();
  lock.unlock();
  start_in_turn(now);
  lock.lock();
}

bool Reader::may_start_read() const {
  return core_.reads_waiting > 0 && core_.reads_in_flight < static_cast<std::size_t>(core_.io_depth) && !core_.closing;
}

// The next read to be started, which counts as under way from here on; null if none may be. The lock is held.
PlannedRead* Reader::take_read() {
  while (may_start_read()) {
    PlannedRead& read = *(urgent_reads_.empty() ? waiting_reads_ : urgent_reads_).pop();
    --core_.reads_waiting;
    bool wanted = false;
    for (const FieldRead* field = read.fields; field; field = field->next) wanted |= !field->ticket->work->discarded;
    if (wanted) {
      ++core_.reads_in_flight;
      if (!read.source->is_remote()) ++core_.disk_reads_in_flight;
      if (core_.trace) read.started_ns = now_ns();
      return &read;
    }
    read_fields(read);
  }
  return nullptr;
}

// Starts reads that were taken, one at least. One may end before it has started, and make room for another. When this
// returns they, and the reader, may be gone.
void Reader::start_in_turn(IntrusiveQueue<PlannedRead> reads) {
  run_in_turn(reads.front()->engine, reads, [](PlannedRead& read) { read.source->start(read.request); });
}

// Where many end at once the lock is taken, and a worker woken, for all of them.
void Reader::read_ended(ReadRequest& request) noexcept {
  PlannedRead& read = *static_cast<PlannedRead*>(request.context);
  void** const chain = CompletionRound::chain(&Reader::chain_ended, read.engine);
  PlannedRead* const last = chain ? static_cast<PlannedRead*>(*chain) : nullptr;
  read.next = last ? std::exchange(last->next, &read) : &read;  // a ring: after the last comes the first
  read.chained = request.length() + (last ? last->chained : 0);
  const bool waits = chain && read.chained < kBytesEndedAtOnce;
  if (chain) *chain = waits ? &read : nullptr;
  if (!waits) chain_ended(read.engine, &read);
}

void Reader::chain_ended(void* reader, void* last) noexcept {
  static_cast<Reader*>(reader)->end_reads(std::exchange(static_cast<PlannedRead*>(last)->next, nullptr));
}

void Reader::end_reads(PlannedRead* first) noexcept {
  EngineCore& core = core_;
  for (const PlannedRead* read = first; read; read = read->next) note_read(*read);
  IntrusiveQueue<PlannedRead> next;
  {
    const std::lock_guard lock(core.mutex);
    for (const PlannedRead* read = first; read; read = read->next) {
      --core.reads_in_flight;
      if (!read->source->is_remote()) --core.disk_reads_in_flight;
    }
    while (PlannedRead* const taken = take_read()) next.push(*taken);
    while (first) {
      PlannedRead& read = *std::exchange(first, first->next);
      if (core.trace) trace_read(read);
      read_fields(read);
    }
    wake_for_tickets();
    core.observe();
    if (core.reads_in_flight == 0) core.reads_end.notify_all();
  }
  if (!next.empty()) start_in_turn(next);  // else the reader may be gone by now
}

void Reader::note_read(const PlannedRead& read) const {
  const ReadRequest& request = read.request;
  const bool is_disk = !read.source->is_remote();
  core_.metrics.add(Metric::kReads, 1);
  if (is_disk) core_.metrics.add(Metric::kDiskReads, 1);
  if (request.error) return;
  if (is_disk) core_.metrics.add(Metric::kDiskBytes, static_cast<std::int64_t>(request.length()));
  core_.metrics.add(Metric::kBytesRead, static_cast<std::int64_t>(read.wanted));
  core_.metrics.add(Metric::kBytesFetched, static_cast<std::int64_t>(request.length()));
  read.copy_fields();
}

// The lock is held.
void Reader::trace_read(const PlannedRead& read) const {
  std::int64_t fields = 0;
  for (const FieldRead* field = read.fields; field; field = field->next) ++fields;
  core_.trace->shared().add({.kind = TraceKind::kRead,
                             .begin_ns = read.started_ns,
                             .end_ns = now_ns(),
                             .batch = fields,
                             .number = static_cast<std::int64_t>(read.request.length())});
}

// The fields of a read that has ended, or that is not wanted any more, are there as far as it is concerned.
void Reader::read_fields(PlannedRead& read) {
  for (FieldRead *field = read.fields, *next = nullptr; field; field = next) {
    next = field->next;  // once its last field was read the ticket may be used again
    Ticket& ticket = *field->ticket;
    if (read.request.error) {
      if (!ticket.error) ticket.error = read.request.error;
      ticket.error_shared |= read.shared;
    }
    if (--ticket.reads_pending == 0) core_.board.tickets.read_done(ticket);
  }
  read.next = std::exchange(ended_reads_, &read);
}

// After tickets were read.
void Reader::wake_for_tickets() {
  core_.wake_worker();
  wake_if_room();  // a ticket that is not wanted any more gave its bytes back
}

// Where nothing is being read either, and the reader is awake, it wants the processor, and no more room.
std::optional<Reader::Starvation> Reader::starvation_begins() const {
  if (!core_.board.read_ahead.refused() || core_.board.tickets.ready_count() > 0) return std::nullopt;
  if (core_.reads_in_flight + core_.reads_waiting == 0 && !core_.reader_waits) return std::nullopt;
  return Starvation{now_ns(), process_cpu_ns()};
}

// What counts is the time in which cores had nothing to do: what is copied out of the page cache meanwhile would not
// come earlier if it were begun earlier.
void Reader::starvation_ends(const Starvation& starvation) {
  const std::int64_t waited_ns = now_ns() - starvation.began_ns;
  const std::int64_t lost_ns = waited_ns - (process_cpu_ns() - starvation.cpu_ns) / cores_;
  if (lost_ns <= waited_ns / 4) return;
  core_.board.read_ahead.starved(lost_ns);
  wake_if_room();
}

// The reader sleeps until a good part of the read-ahead is free again, or until workers could run dry: waking it for
// every sample would cost more than it reads. A larger part would leave windows undrawn when they are to be read.
void Reader::wake_if_room() {
  if (!core_.reader_waits) return;
  const ReadAhead& read_ahead = core_.board.read_ahead;
  if (!reads_due() && !read_ahead.has_again() && !may_start_read()) {
    const bool much_room = read_ahead.used() + read_ahead.near_bytes() / 4 <= read_ahead.depth();
    const std::size_t work = core_.board.tickets.ready_count() + core_.reads_in_flight + core_.reads_waiting;
    const bool little_work = work <= core_.crew.few() * static_cast<std::size_t>(core_.worker_target);
    if (!much_room && !little_work) return;
    if (!core_.board.tickets.may_go_on()) return;
  }
  wake();
}

}  // namespace stoker
