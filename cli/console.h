// Output of the command: results go to standard output, everything else to standard error. A terminal's last line may
// be a status line; other lines are written above it. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/escaped.h"

namespace stoker {

/// Thrown by write_output() when the reader at the other end of a pipe is gone.
struct OutputClosed {};

/// Writes to standard output at once. Throws OutputClosed, or kIo for a full disk.
void write_output(std::string_view text);

/// "stoker: LINE" on standard error, escaped.
void write_error_line(std::string_view line);

/// Replaces the status line, cut to the terminal's width; an empty one removes it. For terminals only.
void set_status_line(std::string_view line);

/// The part of a line that fits `columns`, the last of which stays free: a terminal wraps when it is written to.
std::string_view cut_to_width(std::string_view line, int columns);

/// Whether standard error is a terminal.
bool standard_error_is_terminal();

/// Log messages go to standard error, from the level that STOKER_LOG names (default: warning). Throws kUsage.
void set_log_sink_from_environment();

}  // namespace stoker
