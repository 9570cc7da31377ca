// A process of Python's that runs a function of the user's, and the channel to it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace stoker {

/// It ends with this object, and with the program. Threads: one at a time.
class PythonProcess {
 public:
  /// Starts it; it sees the shared memory under this descriptor. Throws kIo.
  explicit PythonProcess(int shared_memory);
  /// Ends it, whatever it is doing.
  ~PythonProcess();
  PythonProcess(const PythonProcess&) = delete;
  PythonProcess& operator=(const PythonProcess&) = delete;

  struct Answer {
    enum class Kind : std::uint8_t { kMessage, kTimeout, kEnded } kind;
    std::string text;  // the message; or how the process ended: "was ended by signal 9 (Killed)"
  };
  /// Sends a message, and waits for the answer. After anything but kMessage the process is of no more use. Throws
  /// kClosed as soon as `stop` is requested.
  Answer ask(std::string_view message, double timeout_s, const std::stop_token& stop);

  /// How it ended, if it did so while nothing was asked of it; then it is of no more use.
  std::optional<std::string> ended_meanwhile();

  /// The memory that it has for itself, in bytes, as far as the system tells.
  std::uint64_t own_memory() const;

 private:
  void end();
  void await_end() const;
  std::string how_it_ended();

  pid_t id_ = -1;
  int channel_ = -1;
  int life_ = -1;  // the end of a pipe: once it is closed, the system kills the process
  std::string answer_;
};

}  // namespace stoker
