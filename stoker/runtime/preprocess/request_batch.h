// The batches that requests are answered with. Their memory is used again: to take it anew costs more than to fill it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "stoker/tensor/batch.h"

namespace stoker {

class RequestBatch final : public Batch {
 public:
  using Batch::Batch;

  void begin(int slots) { set_size(slots); }
  void begin(int slots, std::vector<OutputSpec> outputs) {
    set_outputs(std::move(outputs));
    set_size(slots);
  }
};

/// Threads: any. Batches may outlive it.
class RequestBatches {
 public:
  /// The outputs are the largest that there will be. Keeps at most so many batches that have come back.
  RequestBatches(std::vector<OutputSpec> outputs, int kept_max);

  /// With room for so many slots; to be begun. It comes back when the last holder lets go. Throws as Batch() does.
  std::shared_ptr<RequestBatch> take(int slots);

 private:
  struct Kept {
    int slots = 0;
    std::unique_ptr<RequestBatch> batch;
  };
  struct Shelf {
    std::mutex mutex;
    std::vector<Kept> kept;  // the last is the one that came back last
  };

  const std::vector<OutputSpec> outputs_;
  const std::size_t kept_max_;
  const std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace stoker
