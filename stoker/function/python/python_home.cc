#include "stoker/function/python/python_home.h"

#include <mutex>
#include <optional>
#include <utility>

#include "stoker/base/environment.h"

namespace stoker {
namespace {

std::mutex home_mutex;

std::optional<PythonHome>& known_home() {
  static std::optional<PythonHome> home;
  return home;
}

}  // namespace

void set_python_home(PythonHome home) {
  const std::lock_guard lock(home_mutex);
  known_home() = std::move(home);
}

PythonHome python_home() {
  const std::lock_guard lock(home_mutex);
  if (known_home()) return *known_home();
  PythonHome home;
  if (const auto named = process_environment()("STOKER_PYTHON")) home.executable = *named;
  return home;
}

}  // namespace stoker
