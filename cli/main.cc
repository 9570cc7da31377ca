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
