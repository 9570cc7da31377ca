// What python_host.py learns of a function before its first sample, in a process and in a thread alike.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "stoker/function/sample_function.h"

namespace stoker {

/// What Caller of python_host.py takes. The meanings are those of the values taken, in their order.
nlohmann::json introduction_of(const FunctionSpec& spec, const std::vector<ValueMeaning>& meanings);

}  // namespace stoker
