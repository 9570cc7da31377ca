// Which batch has memory: it is chosen here, and made ready by whoever holds no lock.
#include <algorithm>

#include "stoker/runtime/engine/ticket_board.h"

namespace stoker {

void TicketBoard::release(std::unique_ptr<LoaderBatch> batch) {
  --held_;
  free_batches_.push_back(std::move(batch));
  allocation_error_ = nullptr;
}

// Two are the consumer's: many hold the last batch until they have the next. What a batch waits for is not left over.
std::unique_ptr<LoaderBatch> TicketBoard::take_surplus() {
  const auto reach = works_.begin() + std::min(std::ssize(works_), std::ptrdiff_t{options_.prefetch});
  const auto wanted =
      std::count_if(works_.begin(), reach, [](const auto& work) { return !work->batch && !work->granting; });
  const auto free =
      std::count_if(free_batches_.begin(), free_batches_.end(), [](const auto& batch) { return batch->settled; });
  if (batches_ <= options_.prefetch + 2 || free <= wanted) return nullptr;
  std::unique_ptr<LoaderBatch> batch = take_free_batch();
  if (batch) --batches_;
  return batch;
}

void TicketBoard::settled(LoaderBatch& batch) {
  batch.settled = true;
  allocation_error_ = nullptr;
}

bool TicketBoard::has_free_batch() const {
  return std::any_of(free_batches_.begin(), free_batches_.end(), [](const auto& batch) { return batch->settled; });
}

// The one that was let go of first: streams of the consumer are the likeliest to be done with it.
std::unique_ptr<LoaderBatch> TicketBoard::take_free_batch() {
  const auto first =
      std::find_if(free_batches_.begin(), free_batches_.end(), [](const auto& batch) { return batch->settled; });
  if (first == free_batches_.end()) return nullptr;
  std::unique_ptr<LoaderBatch> batch = std::move(*first);
  free_batches_.erase(first);
  return batch;
}

// What the machine refused is asked for again when something has changed.
bool TicketBoard::may_make_batch() const {
  if (allocation_error_) return false;
  const auto count = static_cast<std::size_t>(batches_) + 1;
  return count * batch_bytes_.host <= options_.batch_memory_max.host &&
         count * batch_bytes_.device <= options_.batch_memory_max.device;
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

bool TicketBoard::may_grant() const { return next_without_memory() && (has_free_batch() || may_make_batch()); }

bool TicketBoard::take_grant(BatchGrant& grant) {
  if (!may_grant()) return false;
  grant.work = next_without_memory();
  grant.batch = take_free_batch();
  if (!grant.batch) {
    try {
      free_batches_.reserve(static_cast<std::size_t>(batches_) + 1);  // release() may not throw
    } catch (...) {
      allocation_error_ = std::current_exception();
      return false;
    }
    ++batches_;
  }
  grant.transfer_index = options_.transfer_index;
  grant.work->granting = true;
  ++grant.work->unfinished;
  return true;
}

void TicketBoard::prepare(BatchGrant& grant) const noexcept {
  try {
    if (!grant.batch) {
      grant.batch = std::make_unique<LoaderBatch>(options_.outputs, options_.slice.batch, allocator_, options_.device);
    }
    grant.batch->start(grant.transfer_index, grant.work->slots);
  } catch (...) {
    grant.error = std::current_exception();
  }
}

void TicketBoard::granted(BatchGrant& grant) noexcept {
  BatchWork& work = *grant.work;
  work.granting = false;
  --work.unfinished;
  if (grant.error) {
    --batches_;
    if (!work.discarded) allocation_error_ = grant.error;  // for the consumer: work goes on with the batches there are
  } else if (work.discarded) {
    free_batches_.push_back(std::move(grant.batch));
  } else {
    work.batch = std::move(grant.batch);
    parked_count_ -= work.ready_count();
  }
  if (work.discarded) recycle_discarded();
}

bool TicketBoard::lend(const LoaderBatchBytes& bytes) {
  LoaderBatchBytes& most = options_.batch_memory_max;
  const auto needed = static_cast<std::size_t>(std::max(options_.prefetch + 1, batches_));
  const auto spare = [&](std::size_t all, std::size_t each, std::size_t lent) {
    return all >= needed * each && all - needed * each >= lent;
  };
  if (!spare(most.host, batch_bytes_.host, bytes.host) || !spare(most.device, batch_bytes_.device, bytes.device)) {
    return false;
  }
  most.host -= bytes.host;
  most.device -= bytes.device;
  return true;
}

void TicketBoard::return_lent(const LoaderBatchBytes& bytes) {
  options_.batch_memory_max.host += bytes.host;
  options_.batch_memory_max.device += bytes.device;
  allocation_error_ = nullptr;
}

void TicketBoard::set_prefetch(int prefetch) {
  options_.prefetch = prefetch;
  allocation_error_ = nullptr;
}

}  // namespace stoker
