#include "stoker/runtime/board/ticket_board.h"

#include <algorithm>
#include <cassert>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/order/substitutes.h"

namespace stoker {
namespace {

bool is_bad_sample(const std::exception_ptr& exception) { return kind_of(exception) == ErrorKind::kBadSample; }

void note_bad(const Ticket& ticket, bool known, std::vector<BadSlot>& bad) {
  std::string reason;
  try {
    std::rethrow_exception(ticket.error);
  } catch (const Error& error) {
    reason = error.message();
  }
  const SampleRow& row = ticket.row;
  BadSample told{row.source ? row.source->name() : std::string(), row.key,
                 row.fields.empty() ? 0 : row.fields.front().offset, std::move(reason)};
  bad.push_back({ticket.slot, ticket.sample, std::move(told), known});
}

/// Throws if so many samples of a batch are bad that the fault is not theirs: then others in their places are as bad,
/// and trying them all takes long.
void require_accidents(const BatchWork& work) {
  constexpr std::ptrdiff_t kFew = 10;
  const auto met = std::count_if(work.bad.begin(), work.bad.end(), [](const BadSlot& bad) { return !bad.known; });
  if (met <= kFew + 2 * std::ptrdiff_t{work.slots}) return;
  fail(ErrorKind::kBadSample, "{}; so were {} others of one batch of {}", work.bad.back().bad.reason, met - 1,
       work.slots);
}

}  // namespace

// --- drawing

bool TicketBoard::may_go_on() const {
  if (read_ahead_.has_again()) return true;
  if (const Ticket* const refused = read_ahead_.refused()) return read_ahead_.fits(*refused);
  return !all_drawn() || (!order_.at_end() && may_open_work());
}

bool TicketBoard::all_drawn() const { return works_.empty() || works_.back()->drawn == works_.back()->slots; }

// One batch more than may have memory is read ahead, so that its samples are there when memory becomes free; and more
// of them where reads are to be made far ahead. Tickets that read nothing would not be held back by the arena.
bool TicketBoard::may_open_work() const {
  const auto works = static_cast<std::int64_t>(works_.size());
  if (works <= options_.prefetch) return true;
  return locator_.field_count() > 0 && works * order_.batch() < options_.tickets_ahead;
}

bool TicketBoard::open_next_work() {
  if (!may_open_work() || !order_.has_next()) return false;
  std::unique_ptr<BatchWork> work = fresh_work();
  order_.next(*work);
  if (options_.mix_block > 0) {
    // A shorter batch may have gaps between its positions: it is mixed as a whole.
    const int each = work->slots == order_.batch() ? options_.mix_block : work->slots;
    work->blocks.assign(static_cast<std::size_t>(work->slots / each), each);
  }
  works_.push_back(std::move(work));
  batches_.ask_again();
  return true;
}

std::unique_ptr<BatchWork> TicketBoard::fresh_work() {
  std::unique_ptr<BatchWork> work;
  if (spare_works_.empty()) {
    work = std::make_unique<BatchWork>();
    work->tickets.resize(static_cast<std::size_t>(order_.batch()));
    for (Ticket& ticket : work->tickets) ticket.reads.reserve(2 * locator_.field_count() + 1);
    work->ready.reserve(work->tickets.size());  // make_ready() may not throw
    if (options_.mix_block > 0)
      work->blocks.reserve(work->tickets.size() / static_cast<std::size_t>(options_.mix_block));
    // Tickets and works change hands where nothing may throw: there is room for all of them beforehand.
    ++works_made_;
    spare_works_.reserve(works_made_);
    discarded_.reserve(works_made_);
    read_ahead_.expect(works_made_ * work->tickets.size());
  } else {
    work = std::move(spare_works_.back());
    spare_works_.pop_back();
    work->ready.clear();
  }
  work->drawn = work->read = work->passed_over = work->unfinished = work->tasks = 0;
  work->ready_first = 0;
  work->discarded = work->granting = work->awaits_steps = work->in_steps = work->called = false;
  work->error = nullptr;
  work->bad.clear();
  work->times = {.drawn_ns = now_ns()};
  return work;
}

Ticket* TicketBoard::draw() {
  if (all_drawn() && !open_next_work()) return nullptr;
  return &order_.draw(*works_.back());
}

void TicketBoard::read_done(Ticket& ticket) {
  if (ticket.work->discarded) {
    finish(ticket);
    return;
  }
  if (read_ahead_.keep_to_read_again(ticket)) return;
  BatchWork& work = *ticket.work;
  work.make_ready(ticket);
  if (++work.read == work.slots) work.times.read_ns = now_ns();
  ++ready_count_;
  if (!work.batch) ++parked_count_;
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

// Memory goes to the undelivered batches in order, as far as prefetch reaches, and to one at a time: were it refused to
// one while later ones have it, they could wait for each other.
BatchWork* TicketBoard::next_without_memory() const {
  const std::size_t reach = std::min(works_.size(), static_cast<std::size_t>(options_.prefetch));
  for (std::size_t i = 0; i < reach; ++i) {
    if (works_[i]->granting) return nullptr;
    if (!works_[i]->batch) return works_[i].get();
  }
  return nullptr;
}

int TicketBoard::lacking() const {
  const auto reach = works_.begin() + std::min(std::ssize(works_), std::ptrdiff_t{options_.prefetch});
  const auto lacks = [](const auto& work) { return !work->batch && !work->granting; };
  return static_cast<int>(std::count_if(works_.begin(), reach, lacks));
}

bool TicketBoard::take_grant(BatchGrant& grant) {
  BatchWork* const work = next_without_memory();
  if (!work || !batches_.take(grant)) return false;
  grant.work = work;
  work->granting = true;
  ++work->unfinished;
  return true;
}

void TicketBoard::granted(BatchGrant& grant) noexcept {
  BatchWork& work = *grant.work;
  work.granting = false;
  --work.unfinished;
  if (grant.error) {
    batches_.lost(work.discarded ? nullptr : grant.error);  // work goes on with the batches there are
  } else if (work.discarded) {
    batches_.put_back(std::move(grant.batch));
  } else {
    work.batch = std::move(grant.batch);
    work.batch->seed = order_.options().seed;
    work.batch->epoch = work.epoch;
    work.batch->index = work.index;
    parked_count_ -= work.ready_count();
  }
  if (work.discarded) recycle_discarded();
}

void TicketBoard::set_prefetch(int prefetch) {
  options_.prefetch = prefetch;
  batches_.ask_again();
}

bool TicketBoard::finish(Ticket& ticket, BatchTask* task) {
  BatchWork& work = *ticket.work;
  read_ahead_.release(ticket);
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
  if (options_.mix_block > 0) {
    assert(task);
    *task = block_written(work, ticket.slot);
    if (task->work) ++work.tasks, ++work.unfinished;
  }
  return complete(work, task);
}

BatchTask TicketBoard::block_written(BatchWork& work, int slot) const {
  const int count = work.slots / static_cast<int>(work.blocks.size()), block = slot / count;
  if (--work.blocks[static_cast<std::size_t>(block)] > 0) return {};
  return {.kind = BatchTask::Kind::kMix, .work = &work, .first = block * count, .count = count};
}

bool TicketBoard::done(BatchTask& task, std::exception_ptr error) {
  BatchWork& work = *task.work;
  task = {};
  --work.tasks;
  --work.unfinished;
  if (error) work.error = std::move(error);
  if (work.discarded) {
    recycle_discarded();
    return false;
  }
  return complete(work, &task);
}

bool TicketBoard::complete(BatchWork& work, BatchTask* task) {
  if (!work.written()) return false;
  if (options_.has_calls && !work.error && !work.called) {
    assert(task);
    work.called = true;
    ++work.tasks;
    ++work.unfinished;
    *task = {.kind = BatchTask::Kind::kCall, .work = &work, .first = 0, .count = work.slots};
    return false;
  }
  work.batch->written_ns = work.times.written_ns = now_ns();
  work.awaits_steps = options_.has_steps && !work.error;
  if (work.awaits_steps) return true;
  work.times.sealed_ns = work.times.written_ns;
  ++sealed_count_;
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
    work.times.sealed_ns = now_ns();
    ++sealed_count_;
  }
}

/// What is bad is noted; then another sample takes the ticket, if one may.
bool TicketBoard::stands_aside(Ticket& ticket) {
  if (!is_bad_sample(ticket.error)) return false;
  BatchWork& work = *ticket.work;
  try {
    note_bad(ticket, locator_.knows_bad(ticket.row), work.bad);
    // What the list excludes is no reason to fail.
    const bool excluded = options_.bad_sample == BadSlotPolicy::kFail && work.bad.back().known;
    if (options_.bad_sample != BadSlotPolicy::kSubstitute && !excluded) return false;
    require_accidents(work);
    if (ticket.bad_sample < 0) {
      ticket.bad_sample = ticket.sample;
      ticket.bad_key = ticket.row.key;
    }
    const Substitutes substitutes(order_.options(), work.epoch, ticket.position, ticket.bad_sample);
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
  --work.read;
  read_ahead_.add_substitute(ticket);
  return true;
}

// --- delivering

BatchNeed TicketBoard::front_needs() const {
  if (works_.empty()) return BatchNeed::kReads;  // it is being looked for where its samples lie
  const BatchWork& front = *works_.front();
  return front.read < front.slots && workable_count() == 0 ? BatchNeed::kReads : BatchNeed::kWorkers;
}

void TicketBoard::start_epoch(std::int64_t epoch, std::int64_t batch) {
  batches_.ask_again();
  const bool already_first = !works_.empty() && works_.front()->epoch == epoch && works_.front()->index == batch;
  if (already_first && !order_.on_request()) return;
  discard_all();
  order_.start(epoch, batch);
}

void TicketBoard::start_requests() {
  batches_.ask_again();
  discard_all();
  order_.start_requests();
}

void TicketBoard::discard_all() {
  while (!works_.empty()) {
    discard(std::move(works_.front()));
    works_.pop_front();
  }
  read_ahead_.forget_again();
  recycle_discarded();
}

void TicketBoard::discard(std::unique_ptr<BatchWork> work) {
  work->discarded = true;
  ready_count_ -= work->ready_count();
  if (!work->batch) parked_count_ -= work->ready_count();
  if (work->sealed()) --sealed_count_;
  for (std::size_t i = work->ready_first; i < work->ready.size(); ++i) {
    read_ahead_.release(*work->ready[i]);
    --work->unfinished;
  }
  discarded_.push_back(std::move(work));
}

void TicketBoard::recycle_discarded() {
  const auto in_use = [](const auto& work) { return work->unfinished > 0; };
  const auto idle = std::partition(discarded_.begin(), discarded_.end(), in_use);
  for (auto work = idle; work != discarded_.end(); ++work) {
    if ((*work)->batch) batches_.put_back(std::move((*work)->batch));
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
  batch->times = work->times;
  bad.swap(work->bad);
  std::stable_sort(bad.begin(), bad.end(), [](const BadSlot& a, const BadSlot& b) { return a.slot < b.slot; });
  const std::exception_ptr error = work->error;
  spare_works_.push_back(std::move(work));
  batches_.hold();
  if (error) {
    batches_.release(std::move(batch));
    std::rethrow_exception(error);
  }
  return batch;
}

}  // namespace stoker
