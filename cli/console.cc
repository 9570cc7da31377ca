#include "cli/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "stoker/base/environment.h"
#include "stoker/base/error.h"
#include "stoker/base/log.h"

namespace stoker {
namespace {

constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warning", "error"};  // by LogLevel
constexpr std::string_view kEraseLine = "\r\x1b[K";

std::mutex status_mutex;
std::string& status_line() {  // guarded by status_mutex
  static auto* line = new std::string;
  return *line;
}

// If standard error cannot be written to, there is no place to report that.
void write_raw_error(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// A status line is ASCII, so that its bytes are its columns.
int terminal_columns() {
  winsize size{};
  constexpr int kUsual = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

void write_above_status(std::string_view line) {
  const std::lock_guard lock(status_mutex);
  const std::string& status = status_line();
  write_raw_error(status.empty() ? fmt::format("{}\n", line) : fmt::format("{}{}\n{}", kEraseLine, line, status));
}

}  // namespace

void write_output(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return;
  if (errno == EPIPE) throw OutputClosed();
  fail(ErrorKind::kIo, "cannot write to standard output: {}", std::strerror(errno));
}

void write_error_line(std::string_view line) { write_above_status(fmt::format("stoker: {}", escaped(line))); }

std::string_view cut_to_width(std::string_view line, int columns) {
  return line.substr(0, static_cast<std::size_t>(std::max(columns - 1, 0)));
}

void set_status_line(std::string_view line) {
  line = cut_to_width(line, terminal_columns());
  const std::lock_guard lock(status_mutex);
  if (line == status_line()) return;
  status_line() = line;
  write_raw_error(fmt::format("{}{}", kEraseLine, line));
}

bool standard_error_is_terminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind && std::string_view(kind) != "dumb";
}

void set_log_sink_from_environment() {
  const std::string wanted = process_environment()("STOKER_LOG").value_or("warning");
  const auto level = std::find(kLevels.begin(), kLevels.end(), wanted);
  if (level == kLevels.end()) {
    fail(ErrorKind::kUsage, "STOKER_LOG is '{}', but must be one of {}", wanted, fmt::join(kLevels, ", "));
  }
  const auto sink = [](LogLevel at, std::string_view message) {
    write_above_status(fmt::format("stoker: {}: {}", kLevels[static_cast<std::size_t>(at)], escaped(message)));
  };
  set_log_sink(sink, static_cast<LogLevel>(level - kLevels.begin()));
}

}  // namespace stoker
