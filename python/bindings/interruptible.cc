#include "python/bindings/interruptible.h"

#include <chrono>
#include <future>

#include "python/bindings/interpreter_lock.h"
#include "stoker/base/stop_scope.h"

namespace nb = nanobind;

namespace stoker::python {

namespace {

constexpr std::chrono::milliseconds kPatience{50};  // before Python's signals are looked at

}  // namespace

void run_unless_interrupted(const std::function<void(std::stop_token)>& work) {
  std::stop_source stop;
  std::future<void> running;
  const auto ended_within = [&running](std::chrono::milliseconds patience) {
    const Unlocked unlocked;
    return running.wait_for(patience) == std::future_status::ready;
  };
  {
    const Unlocked unlocked;
    running = std::async(std::launch::async, [&] {
      const StopScope scope(stop.get_token());
      work(stop.get_token());
    });
  }
  for (bool ended = false; !ended;) {
    ended = ended_within(kPatience);
    if (PyErr_CheckSignals() == 0) continue;
    nb::python_error interrupted;
    stop.request_stop();
    while (!ended_within(kPatience)) {
    }
    throw interrupted;
  }
  running.get();
}

}  // namespace stoker::python
