#include "python/bindings/log.h"

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "python/bindings/arguments.h"
#include "python/bindings/module.h"
#include "stoker/base/log.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

constexpr std::size_t kQueuedMax = 1000;

struct Message {
  LogLevel level;
  std::string text;
};

class LogQueue {
 public:
  /// Threads: any; needs no interpreter lock.
  void push(LogLevel level, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    if (messages_.size() == kQueuedMax) {
      ++dropped_;
      return;
    }
    messages_.push_back({level, std::string(text)});
    // The main thread takes them when it next runs Python code; where that fails, the next deliver_log() does.
    if (!asked_) asked_ = Py_AddPendingCall(&LogQueue::deliver_pending, nullptr) == 0;
  }

  std::deque<Message> take() {
    const std::lock_guard lock(mutex_);
    asked_ = false;
    if (dropped_ > 0) {
      messages_.push_back({LogLevel::kWarning, fmt::format("{} messages were dropped: too many at once", dropped_)});
      dropped_ = 0;
    }
    return std::exchange(messages_, {});
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }

 private:
  static int deliver_pending(void*) {
    deliver_log();
    return 0;
  }

  std::mutex mutex_;
  std::deque<Message> messages_;
  std::size_t dropped_ = 0;
  bool asked_ = false;  // a pending call is on its way
  bool ended_ = false;
};

LogQueue& queue() {  // never destroyed: threads may outlive main
  static auto* queue = new LogQueue;
  return *queue;
}

int python_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return 10;
    case LogLevel::kInfo: return 20;
    case LogLevel::kWarning: return 30;
    case LogLevel::kError: break;
  }
  return 40;
}

std::optional<LogLevel> least_level(int python) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    if (python <= python_level(level)) return level;
  }
  return std::nullopt;
}

// Follows what the user told Python's logging. The sink is replaced only when that has changed.
void follow_level(const nb::object& logger) {
  static std::optional<LogLevel> followed;  // guarded by the interpreter lock
  static bool first = true;
  const std::optional<LogLevel> least = least_level(nb::cast<int>(logger.attr("getEffectiveLevel")()));
  if (!first && least == followed) return;
  first = false;
  followed = least;
  if (least) {
    set_log_sink([](LogLevel level, std::string_view text) { queue().push(level, text); }, *least);
  } else {
    set_log_sink(nullptr);
  }
}

nb::object logger() { return nb::module_::import_("logging").attr("getLogger")("stoker"); }

void deliver(const nb::object& to) {
  for (const Message& message : queue().take()) {
    to.attr("log")(python_level(message.level), "%s", to_python_text(message.text, "backslashreplace"));
  }
}

}  // namespace

void deliver_log() {
  try {
    const nb::object to = logger();
    follow_level(to);
    deliver(to);
  } catch (nb::python_error& error) {
    error.restore();
    PyErr_WriteUnraisable(nullptr);
  }
}

void end_log() {
  set_log_sink(nullptr);
  queue().end();
  try {
    deliver(logger());
  } catch (nb::python_error& error) {
    error.restore();
    PyErr_WriteUnraisable(nullptr);
  }
}

void bind_log(nb::module_&) { deliver_log(); }

}  // namespace stoker::python
