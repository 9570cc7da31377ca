#include "stoker/runtime/board/ticket_order.h"

#include <cassert>
#include <utility>

namespace stoker {

TicketOrder::TicketOrder(OrderOptions options, RankSlice slice, std::int64_t epochs_end)
    : options_(std::move(options)), slice_(slice), epochs_end_(epochs_end), epoch_(epochs_end) {
  const EpochOrder order(options_, 0);
  global_batches_ = order.batches();
  batches_per_epoch_ = order.batches_of(slice_);
}

void TicketOrder::start(std::int64_t epoch, std::int64_t batch) {
  on_request_ = false;
  begin(epoch, batch);
}

void TicketOrder::start_requests() {
  on_request_ = true;
  requests_.clear();
}

void TicketOrder::begin(std::int64_t epoch, std::int64_t batch) {
  order_.reset();
  epoch_ = epoch;
  index_ = begin_ = batch;
}

bool TicketOrder::has_next() {
  if (at_end() || batches_per_epoch_ == 0) return false;
  if (on_request_) {
    const Request& next = requests_.front();
    if (next.epoch != epoch_) begin(next.epoch, next.batch);
    index_ = next.batch;
  } else if (index_ >= batches_per_epoch_) {
    begin(epoch_ + 1, 0);
    if (at_end()) return false;
  }
  if (!order_) order_.emplace(options_, epoch_);
  return true;
}

void TicketOrder::next(BatchWork& work) {
  assert(order_);
  work.epoch = epoch_;
  work.index = index_++;
  if (on_request_) requests_.pop_front();
  work.slots = work.remaining = order_->slots_of(slice_, work.index);
}

Ticket& TicketOrder::draw(BatchWork& work) const {
  Ticket& ticket = work.tickets[static_cast<std::size_t>(work.drawn)];
  ticket.work = &work;
  ticket.slot = work.drawn++;
  for (;; ++work.passed_over) {
    ticket.position = slice_.position(work.index, ticket.slot + work.passed_over);
    ticket.sample = order_->sample_at(ticket.position).value_or(-1);
    if (!ticket.padding() || options_.tail != Tail::kKeep) break;
  }
  ticket.early = order_->window_began_by(ticket.position, begin_);
  ticket.error = nullptr;
  ticket.reads_pending = 0;
  ticket.attempts = 0;
  ticket.bad_sample = -1;
  ticket.bad_key.clear();
  ticket.substitutes = 0;
  ++work.unfinished;
  return ticket;
}

}  // namespace stoker
