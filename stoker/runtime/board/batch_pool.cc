#include "stoker/runtime/board/batch_pool.h"

#include <algorithm>
#include <utility>

namespace stoker {

BatchPool::BatchPool(BatchPoolOptions options, int slots, Allocator& allocator)
    : options_(std::move(options)),
      slots_(slots),
      allocator_(allocator),
      bytes_(loader_batch_bytes(options_.outputs, slots, options_.device)),
      shared_(shared_batch_bytes(slots, options_.device)) {}

bool BatchPool::available() const { return first_done() < free_.size() || may_make(); }

bool BatchPool::take(BatchGrant& grant) {
  grant.batch = take_free();
  grant.transfer_index = options_.transfer_index;
  if (grant.batch) return true;
  if (!may_make()) return false;
  try {
    free_.reserve(static_cast<std::size_t>(alive_) + 1);  // release() may not throw
  } catch (...) {
    error_ = std::current_exception();
    return false;
  }
  ++alive_;
  return true;
}

void BatchPool::prepare(BatchGrant& grant, int slots) const noexcept {
  try {
    if (!grant.batch) {
      grant.batch = std::make_unique<LoaderBatch>(options_.outputs, slots_, allocator_, options_.device);
    }
    if (options_.outputs_of) grant.batch->set_outputs(options_.outputs_of(*grant.work));
    grant.batch->start(grant.transfer_index, slots);
  } catch (...) {
    grant.error = std::current_exception();
  }
}

void BatchPool::lost(std::exception_ptr error) {
  --alive_;
  if (error) error_ = std::move(error);
}

void BatchPool::hold() {
  ++held_;
  ask_again();
}

void BatchPool::release(std::unique_ptr<LoaderBatch> batch) {
  --held_;
  put_back(std::move(batch));
  ask_again();
}

// Two are the consumer's: many hold the last batch until they have the next. What a batch waits for is not left over.
std::unique_ptr<LoaderBatch> BatchPool::take_surplus(int prefetch, int lacking) {
  const auto done = std::count_if(free_.begin(), free_.end(), [](const auto& batch) { return batch->device_done; });
  if (alive_ <= prefetch + 2 || done <= lacking) return nullptr;
  --alive_;
  return take_free();
}

void BatchPool::device_done(LoaderBatch& batch) {
  batch.device_done = true;
  ask_again();
}

// The one that was released first: streams of the consumer are the likeliest to be done with it.
std::size_t BatchPool::first_done() const {
  const auto first = std::find_if(free_.begin(), free_.end(), [](const auto& batch) { return batch->device_done; });
  return static_cast<std::size_t>(first - free_.begin());
}

std::unique_ptr<LoaderBatch> BatchPool::take_free() {
  const std::size_t first = first_done();
  if (first == free_.size()) return nullptr;
  std::unique_ptr<LoaderBatch> batch = std::move(free_[first]);
  free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(first));
  return batch;
}

bool BatchPool::may_make() const {
  if (error_) return false;
  const LoaderBatchBytes memory = memory_of(alive_ + 1);
  return memory.host <= options_.memory_max.host && memory.device <= options_.memory_max.device;
}

bool BatchPool::lend(const LoaderBatchBytes& bytes, int prefetch) {
  LoaderBatchBytes& most = options_.memory_max;
  const LoaderBatchBytes needed = memory_of(std::max(prefetch + 1, alive_));
  const auto spare = [](std::size_t all, std::size_t taken, std::size_t lent) {
    return all >= taken && all - taken >= lent;
  };
  if (!spare(most.host, needed.host, bytes.host) || !spare(most.device, needed.device, bytes.device)) return false;
  most.host -= bytes.host;
  most.device -= bytes.device;
  return true;
}

void BatchPool::release_lent(const LoaderBatchBytes& bytes) {
  options_.memory_max.host += bytes.host;
  options_.memory_max.device += bytes.device;
  ask_again();
}

}  // namespace stoker
