// The memory of batches, within a budget: which batch has it, and which gets it next. It is chosen here, and made ready
// by a thread that holds no lock. No threads and no locks: the engine calls it under its own.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "stoker/runtime/board/loader_batch.h"

namespace stoker {

struct BatchWork;

/// Memory for a batch, which was chosen and is to be made ready.
struct BatchGrant {
  BatchWork* work = nullptr;           // the board's: whose it will be
  std::unique_ptr<LoaderBatch> batch;  // null: it is to be made
  int transfer_index = kTransferIndexMax;
  std::exception_ptr error;  // why it could not be made ready
};

struct BatchPoolOptions {
  std::vector<OutputSpec> outputs;  // of the largest batch
  // Those of a batch, where they differ from one to the next. Threads: any.
  std::function<std::vector<OutputSpec>(const BatchWork&)> outputs_of{};
  DeviceSide device{};
  int transfer_index = kTransferIndexMax;
  LoaderBatchBytes memory_max{};  // that batches may take together, with what they share
};

class BatchPool {
 public:
  /// Of batches of so many slots.
  BatchPool(BatchPoolOptions options, int slots, Allocator& allocator);

  // --- the board

  /// Whether take() would succeed, as far as is known.
  bool available() const;
  /// Memory for another batch; false where there is none.
  bool take(BatchGrant& grant);
  /// Makes the memory ready for so many slots: this may wait for a device and for the consumer's streams, and allocate.
  /// Needs no lock. What is left in the grant when the board has it is to be destroyed without the lock, too.
  void prepare(BatchGrant& grant, int slots) const noexcept;
  /// What was taken could not be made ready. `error` is for the consumer, and nothing more is made before something has
  /// changed; null: it was not wanted any more.
  void lost(std::exception_ptr error);
  /// What was taken is not needed.
  void put_back(std::unique_ptr<LoaderBatch> batch) { free_.push_back(std::move(batch)); }
  /// The consumer gets one that was taken: until release().
  void hold();
  /// Something has changed: what the machine refused is asked for again.
  void ask_again() { error_ = nullptr; }

  // --- the consumer

  void release(std::unique_ptr<LoaderBatch> batch);
  /// Memory that a smaller prefetch, or a consumer that no longer hoards, leaves over, a batch at a time: to be given
  /// back without the lock, since that may wait as prepare() does. Null if there is none. `lacking`: batches that are
  /// to have memory soon.
  std::unique_ptr<LoaderBatch> take_surplus(int prefetch, int lacking);
  /// The device's work on one that is held or was released has ended.
  void device_done(LoaderBatch& batch);
  /// The consumer holds all the memory there is for batches, or the machine has none.
  bool exhausted() const { return held_ == alive_ && (held_ > 0 || error_); }
  /// Why the machine refused memory for a batch, if it did.
  std::exception_ptr error() const { return error_; }
  int held() const { return held_; }

  // --- knobs and gauges

  /// Of batches that get their memory from now on.
  void set_transfer_index(int index) { options_.transfer_index = index; }
  int transfer_index() const { return options_.transfer_index; }
  const DeviceSide& device() const { return options_.device; }
  /// Of one batch.
  const LoaderBatchBytes& bytes() const { return bytes_; }
  /// Of all of them together.
  const LoaderBatchBytes& shared() const { return shared_; }
  LoaderBatchBytes memory() const { return memory_of(alive_); }
  const LoaderBatchBytes& memory_max() const { return options_.memory_max; }
  /// Lends so much of the memory for batches until release_lent(), if no batch needs it now.
  bool lend(const LoaderBatchBytes& bytes, int prefetch);
  void release_lent(const LoaderBatchBytes& bytes);

 private:
  std::size_t first_done() const;
  std::unique_ptr<LoaderBatch> take_free();
  bool may_make() const;
  LoaderBatchBytes memory_of(int batches) const {
    if (batches == 0) return {};
    const auto count = static_cast<std::size_t>(batches);
    return {count * bytes_.host + shared_.host, count * bytes_.device + shared_.device};
  }

  BatchPoolOptions options_;
  const int slots_;
  Allocator& allocator_;
  const LoaderBatchBytes bytes_, shared_;
  std::vector<std::unique_ptr<LoaderBatch>> free_;
  int alive_ = 0;  // with works, free or held
  int held_ = 0;   // by the consumer
  std::exception_ptr error_;
};

}  // namespace stoker
