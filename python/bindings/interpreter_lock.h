// The interpreter's lock, for threads that may outlive the interpreter. Up to CPython 3.13 a thread that asks for the
// lock too late is ended by force where it stands, and C++ that it leaves in that way aborts the program. So once the
// interpreter is about to end, threads of ours and of Python's no longer ask for it: they stay where they are.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>

#include <optional>

namespace stoker::python {

/// Gives the lock up, and takes it again in the end. After keep_threads_out() the thread does not go on.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* const state_;
};

/// Takes the lock, which the thread may have already, and gives it up in the end. After keep_threads_out() a thread
/// that does not have it gets none: the object is false then.
class Locked {
 public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  explicit operator bool() const { return state_.has_value(); }

 private:
  std::optional<PyGILState_STATE> state_;
};

/// The thread waits here until the process ends.
[[noreturn]] void stay_here();

/// Calls a function that runs Python code, which gives the lock up now and then. If the interpreter ends meanwhile, the
/// thread stays here: nothing of ours that holds Python objects is unwound without the lock.
template <typename... Arguments>
nanobind::object call_python(const nanobind::object& function, const Arguments&... arguments) {
  try {
    return function(arguments...);
  } catch (const abi::__forced_unwind&) {
    stay_here();
  }
}

/// For the thread that ends the interpreter, before it does: waits for those that are about to take the lock. From now
/// on only this thread can take it by the classes above.
void keep_threads_out();

}  // namespace stoker::python
