#include "python/bindings/log.h"

#include <atomic>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "python/bindings/arguments.h"
#include "python/bindings/interpreter_lock.h"
#include "python/bindings/module.h"
#include "stoker/base/escaped.h"
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
    ask();
  }

  /// What take() gave, in front of what came meanwhile.
  void put_back(std::deque<Message> rest) {
    const std::lock_guard lock(mutex_);
    messages_.insert(messages_.begin(), std::move_iterator(rest.begin()), std::move_iterator(rest.end()));
    for (; messages_.size() > kQueuedMax; ++dropped_) messages_.pop_back();
    ask();
  }

  std::deque<Message> take() {
    const std::lock_guard lock(mutex_);
    asked_ = false;
    if (dropped_ > 0) {
      messages_.push_back(
          {LogLevel::kWarning, fmt::format("{} log messages were dropped: too many at once", dropped_)});
      dropped_ = 0;
    }
    return std::exchange(messages_, {});
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }

 private:
  // The main thread takes them when it next runs Python code; where that fails, the next deliver_log() does.
  void ask() {
    if (!asked_) asked_ = Py_AddPendingCall(&LogQueue::deliver_pending, nullptr) == 0;
  }

  static int deliver_pending(void* /*unused*/) {
    try {
      deliver_log();
      return 0;
    } catch (nb::python_error& error) {
      error.restore();  // raised in what the main thread was doing
      return -1;
    }
  }

  std::mutex mutex_;
  std::deque<Message> messages_;
  std::size_t dropped_ = 0;
  bool asked_ = false;  // a pending call is on its way
  bool ended_ = false;
};

std::atomic<LogQueue*>& current_queue() {  // never destroyed: threads may outlive main
  static std::atomic<LogQueue*> current{new LogQueue};
  return current;
}

LogQueue& queue() { return *current_queue().load(); }

// In a forked child another thread may have held the old queue's lock, which then stays locked; its messages are the
// parent's to deliver.
void start_queue_anew() { current_queue() = new LogQueue; }

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

nb::object logger() {
  const nb::object get = nb::module_::import_("logging").attr("getLogger");
  return call_python(get, "stoker");
}

void hand_over(const Message& message) {
  const nb::object log = logger().attr("log"), text = to_python_text(escaped(message.text), "backslashreplace");
  call_python(log, python_level(message.level), "%s", text);
}

// A user's handler must not break the loop that happens to deliver to it; Ctrl-C, which may come while it runs, must.
bool is_meant_for_the_loop(const nb::python_error& error) { return !error.matches(PyExc_Exception); }

}  // namespace

void follow_log_level() {
  static nb::ft_mutex mutex;  // does nothing where the interpreter has a lock
  static std::optional<LogLevel> followed;
  static bool first = true;
  const nb::object get_level = logger().attr("getEffectiveLevel");
  const std::optional<LogLevel> least = least_level(nb::cast<int>(call_python(get_level)));
  const nb::ft_lock_guard lock(mutex);
  if (!first && least == followed) return;
  first = false;
  followed = least;
  if (least) {
    set_log_sink([](LogLevel level, std::string_view text) { queue().push(level, text); }, *least);
  } else {
    set_log_sink(nullptr);
  }
}

void deliver_log() {
  std::deque<Message> messages = queue().take();
  while (!messages.empty()) {
    const Message message = std::move(messages.front());
    messages.pop_front();
    try {
      hand_over(message);
    } catch (nb::python_error& error) {
      if (is_meant_for_the_loop(error)) {
        queue().put_back(std::move(messages));
        throw;
      }
      error.restore();
      PyErr_WriteUnraisable(nullptr);
    }
  }
}

void end_log() {
  set_log_sink(nullptr);
  queue().end();
  deliver_log();
}

void bind_log(nb::module_& /*module*/) {
  nb::module_::import_("os").attr("register_at_fork")(nb::arg("after_in_child") = nb::cpp_function(&start_queue_anew));
  follow_log_level();
}

}  // namespace stoker::python
