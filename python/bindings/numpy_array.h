// Tensors of ours as numpy arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "stoker/tensor/batch.h"

namespace stoker::python {

/// An array over the memory itself; it holds `owner`. Throws kUsage for bf16, which numpy does not have.
nanobind::object numpy_view(const TensorView& view, std::shared_ptr<const void> owner, bool read_only = false);

}  // namespace stoker::python
