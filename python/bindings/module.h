// The parts of the Python module, one per noun; module.cc puts them together.
#pragma once

#include <nanobind/nanobind.h>

namespace stoker::python {

void bind_error(nanobind::module_& module);
void bind_interpreter_lock(nanobind::module_& module);
void bind_log(nanobind::module_& module);
void bind_dataset(nanobind::module_& module);
/// OperatorCall, and the submodule `op`.
void bind_calls(nanobind::module_& module);
void bind_recipe(nanobind::module_& module);
void bind_batch(nanobind::module_& module);
void bind_loader(nanobind::module_& module);
void bind_preprocessor(nanobind::module_& module);
void bind_report(nanobind::module_& module);
void bind_member_reports(nanobind::module_& module);
/// What only tests look at, as the submodule `testing`.
void bind_testing(nanobind::module_& module);

}  // namespace stoker::python
