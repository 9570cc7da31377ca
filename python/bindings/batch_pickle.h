// Batches between processes.
#pragma once

#include <nanobind/nanobind.h>

#include "python/bindings/batch.h"

namespace stoker::python {

/// What pickle is told: the function that makes the batch again, with facts about it and the outputs' bytes. Of
/// protocol 5 on these are buffers, which a pickler may hand on without copying them. What is copied can be written to,
/// unless the batch cannot.
nanobind::tuple reduce_batch(const PyBatch& self, int protocol);

/// That function's part here. The buffers are not copied: numpy cannot write to the tensors of such as are read-only.
PyBatch batch_from_pickle(const nanobind::tuple& facts, const nanobind::list& parts);

}  // namespace stoker::python
