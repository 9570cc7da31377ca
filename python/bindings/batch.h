// A loader's batch as Python sees it.
#pragma once

#include <memory>

#include "stoker/tensor/batch.h"

namespace stoker::python {

/// The Python class Batch: one more holder of the batch's memory.
struct PyBatch {
  std::shared_ptr<const Batch> batch;
};

}  // namespace stoker::python
