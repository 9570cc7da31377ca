// Tensors of ours as numpy arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string_view>

#include "stoker/tensor/batch.h"

namespace stoker::python {

/// An array over the memory itself; it holds `owner`. Throws kUsage for bf16, which numpy does not have.
nanobind::object numpy_view(const TensorView& view, std::shared_ptr<const void> owner, bool read_only = false);

/// "float32"; of bf16 "bfloat16", as those name it that have it.
std::string_view numpy_name(DType dtype);
/// The inverse; nothing for another name.
std::optional<DType> dtype_of_numpy_name(std::string_view name);

}  // namespace stoker::python
