#include "python/bindings/module.h"

#include "python/bindings/function.h"

NB_MODULE(_stoker, module) {
  using namespace stoker::python;
  // What is still held when the interpreter ends is not the user's mistake.
  nanobind::set_leak_warnings(false);
  module.attr("__version__") = STOKER_VERSION;
  bind_error(module);
  bind_interpreter_lock(module);
  bind_log(module);
  bind_dataset(module);
  bind_calls(module);
  bind_functions(module);
  bind_recipe(module);
  bind_batch(module);
  bind_report(module);
  bind_member_reports(module);
  bind_loader(module);
  bind_preprocessor(module);
  bind_testing(module);
}
