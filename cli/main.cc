#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <new>

#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/exit_status.h"
#include "cli/interrupts.h"
#include "stoker/base/error.h"
#include "stoker/base/isa.h"

namespace {

using namespace stoker;

int status_of(const Error& error, const Interrupts& interrupts) {
  if (interrupts.raised()) {
    // A job that can be resumed says so.
    write_error_line(error.message().starts_with("stopped") ? error.message() : "stopped");
    return kExitInterrupted;
  }
  write_error_line(error.message());
  return error.kind() == ErrorKind::kUsage ? kExitUsage : kExitFailure;
}

/// A standard descriptor that is closed would become that of the next file that is opened, and the log would go there.
/// Standard output stays unwritable: results that go nowhere are an error.
void take_standard_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool is_closed = ::fcntl(standard, F_GETFD) == -1 && errno == EBADF;
    // The lowest that is closed is taken: this one.
    if (is_closed) ::open("/dev/null", standard == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int run(int argc, char** argv) {
  Interrupts interrupts;
  try {
    set_log_sink_from_environment();
    select_isa("");
    return run_command_line(argc, argv, interrupts);
  } catch (const Error& error) {
    return status_of(error, interrupts);
  } catch (const ExitStatus& status) {
    return status.value;
  }
}

}  // namespace

int main(int argc, char** argv) {
  take_standard_descriptors();
  try {
    return run(argc, argv);
  } catch (const OutputClosed&) {
    return kExitFailure;  // the reader of our output closed the pipe: there is nothing to report
  } catch (const std::bad_alloc&) {
    write_error_line("out of memory");
  } catch (const std::exception& error) {
    write_error_line(error.what());
  }
  return kExitFailure;
}
