#include "python/bindings/interpreter_lock.h"

#include <unistd.h>

#include <atomic>
#include <thread>

#include "python/bindings/module.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

std::atomic<int> taking = 0;                      // threads that are about to take the lock, or wait for it
std::atomic<std::thread::id> ends_interpreter{};  // none at first

// A thread is counted before it looks whether it is kept out: keep_threads_out() waits for it if it is not.
struct Taking {
  Taking() { ++taking; }
  ~Taking() { --taking; }
  Taking(const Taking&) = delete;
  Taking& operator=(const Taking&) = delete;
};

bool is_kept_out() {
  const std::thread::id thread = ends_interpreter;
  return thread != std::thread::id() && thread != std::this_thread::get_id();
}

bool take_back(PyThreadState* state) {
  const Taking counted;
  if (is_kept_out()) return false;
  PyEval_RestoreThread(state);
  return true;
}

// A forked child has none of the other threads, and its interpreter goes on.
void forget_other_threads() {
  taking = 0;
  ends_interpreter = std::thread::id();
}

}  // namespace

Unlocked::Unlocked() : state_(PyEval_SaveThread()) {
  if (is_kept_out()) stay_here();  // rather than begin what nothing waits for
}

Unlocked::~Unlocked() {
  if (!take_back(state_)) stay_here();
}

Locked::Locked() {
  const Taking counted;
  const bool may_take = Py_IsInitialized() != 0 && (!is_kept_out() || PyGILState_Check() != 0);
  if (may_take) state_ = PyGILState_Ensure();
}

Locked::~Locked() {
  if (state_) PyGILState_Release(*state_);
}

void stay_here() {
  for (;;) ::pause();
}

void keep_threads_out() {
  ends_interpreter = std::this_thread::get_id();
  PyThreadState* const state = PyEval_SaveThread();
  while (taking > 0) std::this_thread::yield();
  PyEval_RestoreThread(state);
}

void bind_interpreter_lock(nb::module_& /*module*/) {
  nb::module_::import_("os").attr("register_at_fork")(nb::arg("after_in_child") =
                                                          nb::cpp_function(&forget_other_threads));
}

}  // namespace stoker::python
