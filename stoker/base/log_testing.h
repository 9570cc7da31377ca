// Captures log messages in tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/log.h"

namespace stoker {

/// The messages logged during its lifetime. For tests that log on one thread.
class LogCapture {
 public:
  LogCapture() {
    set_log_sink([this](LogLevel, std::string_view line) { lines.emplace_back(line); });
  }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  ~LogCapture() { set_log_sink(nullptr); }

  std::vector<std::string> lines;
};

}  // namespace stoker
