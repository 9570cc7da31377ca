#include "stoker/base/log.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace stoker {
namespace {

constexpr int kSilent = 1000;
std::atomic<int> least_level{kSilent};

std::mutex sink_mutex;
std::shared_ptr<const LogSink>& current_sink() {  // guarded by sink_mutex; never destroyed, threads may outlive main
  static auto* sink = new std::shared_ptr<const LogSink>;
  return *sink;
}

}  // namespace

void set_log_sink(LogSink sink, LogLevel least) {
  const std::lock_guard lock(sink_mutex);
  least_level.store(sink ? static_cast<int>(least) : kSilent);
  current_sink() = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
}

bool log_enabled(LogLevel level) { return static_cast<int>(level) >= least_level.load(std::memory_order_relaxed); }

void log_message(LogLevel level, std::string_view message) {
  std::shared_ptr<const LogSink> sink;
  {
    const std::lock_guard lock(sink_mutex);
    sink = current_sink();
  }
  if (sink) (*sink)(level, message);  // outside the lock: a sink may log or be replaced
}

}  // namespace stoker
