// Metrics as a dict, by their names.
#pragma once

#include <nanobind/nanobind.h>

#include "stoker/runtime/metrics.h"

namespace stoker::python {

nanobind::dict metrics_dict(const Metrics& metrics);
/// Of a dict that another process made.
Metrics metrics_of(const nanobind::dict& values);

}  // namespace stoker::python
