// Long work in C++ that Ctrl-C ends.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <stop_token>

namespace stoker::python {

/// Does the work on a thread of its own, with the interpreter released, and looks at Python's signals meanwhile: one
/// that raises stops the work and what it waits for (StopScope), and counts more than what became of it.
void run_unless_interrupted(const std::function<void(std::stop_token)>& work);

}  // namespace stoker::python
