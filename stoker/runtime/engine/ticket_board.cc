#include "stoker/runtime/engine/ticket_board.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include <fmt/format.h>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/order/substitutes.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

// A disk or a network that fails once may well answer the second time; one that fails three times is broken. Memory and
// descriptors that are missing may be there again, too.
constexpr int kReadAttempts = 3;

bool may_pass(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::kIo || error.kind() == ErrorKind::kMemory;
  } catch (...) {
    return false;
  }
}

bool is_bad_sample(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::kBadSample;
  } catch (...) {
    return false;
  }
}

void note_bad(const Ticket& ticket, const Quarantine* quarantine, std::vector<BadSlot>& bad) {
  std::string reason;
  try {
    std::rethrow_exception(ticket.error);
  } catch (const Error& error) {
    reason = error.message();
  }
  const SampleRow& row = ticket.row;
  BadSample told{row.source ? row.source->name() : std::string(), row.key,
                 row.fields.empty() ? 0 : row.fields.front().offset, std::move(reason)};
  bad.push_back({ticket.slot, ticket.sample, std::move(told), quarantine && row.source && quarantine->contains(row)});
}

}  // namespace

TicketBoard::TicketBoard(const Dataset& dataset, BoardOptions options, Allocator& allocator)
    : dataset_(dataset),
      options_(std::move(options)),
      allocator_(allocator),
      batch_bytes_(loader_batch_bytes(options_.outputs, options_.slice.batch, options_.device)),
      arena_(options_.read_ahead_bytes, allocator) {
  const EpochOrder order(options_.order, 0);
  global_batches_ = order.batches();
  batches_per_epoch_ = order.batches_of(options_.slice);
}

// --- drawing

bool TicketBoard::has_again() const {
  const auto is_new = [](const Ticket* ticket) { return ticket->again_ns == 0; };
  if (!substitutes_.empty() || std::any_of(again_.begin(), again_.end(), is_new)) return true;
  return refused_substitute_ && (refused_substitute_->work->discarded || reserve_->fits(refused_substitute_->bytes));
}

bool TicketBoard::may_go_on() const {
  if (has_again()) return true;
  if (refused_) return refused_->work->discarded || arena_.fits(refused_->bytes);
  return started_ && (!all_drawn() || may_open_work());
}

bool TicketBoard::all_drawn() const { return works_.empty() || works_.back()->drawn == works_.back()->slots; }

// One batch more than may have memory is read ahead, so that its samples are there when memory becomes free; and more
// of them where reads are to be made far ahead. Tickets that read nothing would not be held back by the arena.
bool TicketBoard::may_open_work() const {
  const auto works = static_cast<std::int64_t>(works_.size());
  if (works <= options_.prefetch) return true;
  return !options_.fields.empty() && works * options_.slice.batch < options_.tickets_ahead;
}

bool TicketBoard::open_next_work() {
  if (!may_open_work() || draw_epoch_ >= options_.epochs_end || batches_per_epoch_ == 0) return false;
  if (draw_index_ >= batches_per_epoch_) {
    draw_index_ = 0;
    order_.reset();
    if (++draw_epoch_ >= options_.epochs_end) return false;
  }
  if (!order_) order_.emplace(options_.order, draw_epoch_);
  std::unique_ptr<BatchWork> work = fresh_work();
  work->epoch = draw_epoch_;
  work->index = draw_index_++;
  work->slots = work->remaining = order_->slots_of(options_.slice, work->index);
  works_.push_back(std::move(work));
  allocation_error_ = nullptr;
  return true;
}

std::unique_ptr<BatchWork> TicketBoard::fresh_work() {
  std::unique_ptr<BatchWork> work;
  if (spare_works_.empty()) {
    work = std::make_unique<BatchWork>();
    work->tickets.resize(static_cast<std::size_t>(options_.slice.batch));
    for (Ticket& ticket : work->tickets) ticket.reads.reserve(2 * options_.fields.size() + 1);
    work->ready.reserve(work->tickets.size());  // make_ready() may not throw
    // Tickets and works change hands where nothing may throw: there is room for all of them beforehand.
    ++works_made_;
    spare_works_.reserve(works_made_);
    discarded_.reserve(works_made_);
    again_.reserve(works_made_ * work->tickets.size());
    substitutes_.reserve(works_made_ * work->tickets.size());
  } else {
    work = std::move(spare_works_.back());
    spare_works_.pop_back();
    work->ready.clear();
  }
  work->drawn = work->passed_over = work->unfinished = 0;
  work->ready_first = 0;
  work->discarded = work->granting = work->awaits_steps = work->in_steps = false;
  work->error = nullptr;
  work->bad.clear();
  return work;
}

Ticket* TicketBoard::draw() {
  if (!started_ || (all_drawn() && !open_next_work())) return nullptr;
  BatchWork& work = *works_.back();
  Ticket& ticket = work.tickets[static_cast<std::size_t>(work.drawn)];
  ticket.work = &work;
  ticket.slot = work.drawn++;
  for (;; ++work.passed_over) {
    ticket.position = options_.slice.position(work.index, ticket.slot + work.passed_over);
    ticket.sample = order_->sample_at(ticket.position).value_or(-1);
    if (!ticket.padding() || options_.order.tail != Tail::kKeep) break;
  }
  ticket.error = nullptr;
  ticket.reads_pending = 0;
  ticket.attempts = 0;
  ticket.bad_sample = -1;
  ticket.bad_key.clear();
  ticket.substitutes = 0;
  ++work.unfinished;
  return &ticket;
}

bool TicketBoard::grant(Ticket& ticket) {
  if (ticket.bad_sample >= 0 && !reserve_) reserve_.emplace(options_.reserve_bytes, allocator_);
  EncodedArena& arena = ticket.bad_sample < 0 ? arena_ : *reserve_;
  Ticket*& refused = ticket.bad_sample < 0 ? refused_ : refused_substitute_;
  refused = nullptr;
  if (!ticket.wants_read || ticket.work->discarded) return true;
  if (!arena.fits(ticket.bytes)) {
    refused = &ticket;
    return false;
  }
  ticket.grant = arena.grant(ticket.bytes);
  ticket.granted = true;
  std::size_t offset = 0;
  for (FieldRead& read : ticket.reads) {
    const SampleField& field = *read.field;
    read.source = &field == &ticket.row.entry_points ? ticket.row.entry_points_source : ticket.row.source;
    read.ticket = &ticket;
    MutableBytes whole;
    if (read.continues < 0) {
      whole = ticket.grant.bytes.subspan(offset, static_cast<std::size_t>(field.length));
      offset += EncodedArena::in_units(whole.size());
    } else {
      const FieldRead& beginning = ticket.reads[static_cast<std::size_t>(read.continues)];
      whole = {beginning.bytes.data(), static_cast<std::size_t>(field.length)};
    }
    read.bytes = whole.subspan(static_cast<std::size_t>(read.begin), static_cast<std::size_t>(read.length));
    read.content = whole;
  }
  request_reads(ticket);
  return true;
}

void TicketBoard::give_back(Ticket& ticket) {
  if (!ticket.granted) return;
  (ticket.bad_sample < 0 ? arena_ : *reserve_).give_back(ticket.grant);
  ticket.granted = false;
}

Ticket* TicketBoard::substitute() {
  if (substitutes_.empty()) return nullptr;
  Ticket* ticket = substitutes_.back();
  substitutes_.pop_back();
  return ticket;
}

std::int64_t read_again_delay_ns(int attempts) {
  constexpr std::int64_t kFirst = 10'000'000, kMost = 1'000'000'000;
  return std::min(kMost, kFirst << std::clamp(2 * (attempts - 1), 0, 30));
}

Ticket* TicketBoard::again(std::int64_t now_ns) {
  for (Ticket* ticket : again_) {
    if (ticket->again_ns != 0) continue;
    // What others' bytes may have spoilt is read by itself at once.
    ticket->again_ns = now_ns + (ticket->error_shared ? 0 : read_again_delay_ns(ticket->attempts));
  }
  const auto due = std::find_if(again_.rbegin(), again_.rend(), [&](const Ticket* t) { return t->again_ns <= now_ns; });
  if (due == again_.rend()) return nullptr;
  Ticket* const ticket = *due;
  again_.erase(std::next(due).base());
  request_reads(*ticket);
  return ticket;
}

std::optional<std::int64_t> TicketBoard::next_again_ns() const {
  std::optional<std::int64_t> first;
  for (const Ticket* ticket : again_) {
    if (ticket->again_ns != 0 && (!first || ticket->again_ns < *first)) first = ticket->again_ns;
  }
  return first;
}

void TicketBoard::request_reads(Ticket& ticket) {
  ticket.error = nullptr;
  ticket.error_shared = false;
  ticket.reads_pending = static_cast<int>(ticket.reads.size());
  ++ticket.attempts;
}

void TicketBoard::read_done(Ticket& ticket) {
  if (ticket.work->discarded) {
    finish(ticket);
    return;
  }
  const bool may_be_well = ticket.error && (ticket.error_shared || may_pass(ticket.error));
  if (may_be_well && ticket.attempts > 0 && ticket.attempts < kReadAttempts) {
    ticket.again_ns = 0;
    again_.push_back(&ticket);
    return;
  }
  ticket.work->make_ready(ticket);
  ++ready_count_;
  if (!ticket.work->batch) ++parked_count_;
}

// --- working

std::size_t TicketBoard::take(std::span<Ticket*> tickets) {
  for (const auto& work : works_) {
    if (!work->batch) break;  // memory is granted in order: no later batch has any
    const std::size_t count = std::min(work->ready_count(), tickets.size());
    if (count == 0) continue;
    std::copy_n(work->ready.begin() + static_cast<std::ptrdiff_t>(work->ready_first), count, tickets.begin());
    work->ready_first += count;
    ready_count_ -= count;
    return count;
  }
  return 0;
}

bool TicketBoard::finish(Ticket& ticket) {
  BatchWork& work = *ticket.work;
  give_back(ticket);
  if (!work.discarded && ticket.error && stands_aside(ticket)) return false;
  --work.unfinished;
  --work.remaining;
  ++slots_made_;
  if (work.discarded) {
    recycle_discarded();
    return false;
  }
  const auto slot = static_cast<std::size_t>(ticket.slot);
  Batch& batch = *work.batch;
  batch.position[slot] = ticket.position;
  batch.sample[slot] = ticket.sample;
  batch.key[slot].swap(ticket.row.key);  // empty for padding
  batch.status[slot] = ticket.padding() ? SlotStatus::kPadding : ticket.error ? SlotStatus::kBad : SlotStatus::kGood;
  batch.substituted_for[slot] = ticket.bad_sample;
  batch.substituted_key[slot].swap(ticket.bad_key);
  const bool skipped = options_.bad_sample == BadSlotPolicy::kSkip && ticket.error && is_bad_sample(ticket.error);
  if (ticket.error && !skipped && (!work.error || ticket.slot < work.error_slot)) {
    work.error = ticket.error;
    work.error_slot = ticket.slot;
  }
  if (!work.sealed()) return false;
  batch.written_ns = now_ns();
  work.awaits_steps = options_.has_steps && !work.error;
  if (!work.awaits_steps) ++sealed_count_;
  return true;
}

std::deque<std::unique_ptr<BatchWork>>::const_iterator TicketBoard::next_written() const {
  const auto first = std::find_if(works_.begin(), works_.end(), [](const auto& work) { return !work->sealed(); });
  return first == works_.end() || !(*first)->awaits_steps || (*first)->in_steps ? works_.end() : first;
}

BatchWork* TicketBoard::take_written() {
  const auto next = next_written();
  if (next == works_.end()) return nullptr;
  BatchWork& work = **next;
  work.in_steps = true;
  ++work.unfinished;
  return &work;
}

void TicketBoard::steps_done(BatchWork& work, std::exception_ptr error) {
  work.awaits_steps = work.in_steps = false;
  --work.unfinished;
  if (error) work.error = std::move(error);
  if (work.discarded) {
    recycle_discarded();
  } else {
    ++sealed_count_;
  }
}

/// What is bad is noted; then another sample takes the ticket, if one may.
bool TicketBoard::stands_aside(Ticket& ticket) {
  if (!is_bad_sample(ticket.error)) return false;
  BatchWork& work = *ticket.work;
  try {
    note_bad(ticket, options_.quarantine.get(), work.bad);
    // What the list excludes is no reason to fail.
    const bool excluded = options_.bad_sample == BadSlotPolicy::kFail && work.bad.back().known;
    if (options_.bad_sample != BadSlotPolicy::kSubstitute && !excluded) return false;
    if (ticket.bad_sample < 0) {
      ticket.bad_sample = ticket.sample;
      ticket.bad_key = ticket.row.key;
    }
    const Substitutes substitutes(options_.order, work.epoch, ticket.position, ticket.bad_sample);
    if (ticket.substitutes == substitutes.tries()) {
      const auto first =
          std::find_if(work.bad.begin(), work.bad.end(), [&](const BadSlot& bad) { return bad.slot == ticket.slot; });
      fail(ErrorKind::kBadSample, "{}; none of {} others that were tried in its place is any better", first->bad.reason,
           ticket.substitutes);
    }
    ticket.sample = substitutes.sample(ticket.substitutes++);
  } catch (...) {
    ticket.error = std::current_exception();
    return false;
  }
  ticket.error = nullptr;
  ticket.attempts = 0;
  substitutes_.push_back(&ticket);
  return true;
}

// --- delivering

void TicketBoard::start_epoch(std::int64_t epoch, std::int64_t batch) {
  allocation_error_ = nullptr;
  const bool already_first = !works_.empty() && works_.front()->epoch == epoch && works_.front()->index == batch;
  if (already_first) return;
  while (!works_.empty()) {
    discard(std::move(works_.front()));
    works_.pop_front();
  }
  for (std::vector<Ticket*>* waiting : {&again_, &substitutes_}) {
    for (Ticket* ticket : *waiting) {  // all of works that were just discarded
      give_back(*ticket);
      --ticket->work->unfinished;
    }
    waiting->clear();
  }
  recycle_discarded();
  started_ = true;
  order_.reset();
  draw_epoch_ = epoch;
  draw_index_ = batch;
}

void TicketBoard::discard(std::unique_ptr<BatchWork> work) {
  work->discarded = true;
  ready_count_ -= work->ready_count();
  if (!work->batch) parked_count_ -= work->ready_count();
  if (work->sealed()) --sealed_count_;
  for (std::size_t i = work->ready_first; i < work->ready.size(); ++i) {
    give_back(*work->ready[i]);
    --work->unfinished;
  }
  discarded_.push_back(std::move(work));
}

void TicketBoard::recycle_discarded() {
  const auto in_use = [](const auto& work) { return work->unfinished > 0; };
  const auto idle = std::partition(discarded_.begin(), discarded_.end(), in_use);
  for (auto work = idle; work != discarded_.end(); ++work) {
    if ((*work)->batch) free_batches_.push_back(std::move((*work)->batch));
    spare_works_.push_back(std::move(*work));
  }
  discarded_.erase(idle, discarded_.end());
}

std::unique_ptr<LoaderBatch> TicketBoard::pop(std::vector<BadSlot>& bad) {
  assert(front_sealed());
  std::unique_ptr<BatchWork> work = std::move(works_.front());
  works_.pop_front();
  --sealed_count_;
  std::unique_ptr<LoaderBatch> batch = std::move(work->batch);
  batch->epoch = work->epoch;
  batch->index = work->index;
  bad.swap(work->bad);
  std::stable_sort(bad.begin(), bad.end(), [](const BadSlot& a, const BadSlot& b) { return a.slot < b.slot; });
  const std::exception_ptr error = work->error;
  spare_works_.push_back(std::move(work));
  ++held_;
  allocation_error_ = nullptr;
  if (error) {
    release(std::move(batch));
    std::rethrow_exception(error);
  }
  return batch;
}

}  // namespace stoker
