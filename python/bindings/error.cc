// stoker::Error as the Python exception stoker.Error, with its kind.
#include <fmt/format.h>

#include "python/bindings/arguments.h"
#include "python/bindings/module.h"
#include "stoker/base/error.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

constexpr const char* kDoc =
    "The exception that Stoker raises, with a sentence that says what is wrong and what to do.\n\n`kind` is one of "
    "'usage', 'not_found', 'io', 'data', 'bad_sample', 'limit', 'memory', 'closed'."
    "\n\n>>> try:\n"
    "...     stoker.open(\"no-such-folder\")\n"
    "... except stoker.Error as error:\n"
    "...     print(error.kind)\n"
    "not_found";

void raise(PyObject* type, const Error& error) {
  const nb::object exception = nb::borrow(type)(to_python_text(error.message(), "backslashreplace"));
  exception.attr("kind") = nb::str(to_string(error.kind()).data());
  PyErr_SetObject(type, exception.ptr());
}

// Making the exception runs Python code, and so may a handler of a signal that came just then: its exception is what
// Python is to see.
void raise_or_be_interrupted(PyObject* type, const Error& error) {
  try {
    raise(type, error);
  } catch (nb::python_error& other) {
    other.restore();
  }
}

}  // namespace

void bind_error(nb::module_& module) {
  nb::dict members;
  members["kind"] = nb::str(to_string(ErrorKind::kUsage).data());
  PyObject* type = PyErr_NewExceptionWithDoc("stoker.Error", kDoc, nullptr, members.ptr());
  if (!type) throw nb::python_error();
  module.attr("Error") = nb::steal(type);
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* error_type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const Error& error) {
          raise_or_be_interrupted(static_cast<PyObject*>(error_type), error);
        }
      },
      type);  // which the module keeps alive
}

}  // namespace stoker::python
