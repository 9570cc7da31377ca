#include "cli/process_usage.h"

#include <sys/resource.h>

namespace stoker {
namespace {

rusage usage_of_process() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

double process_cpu_s() {
  const rusage usage = usage_of_process();
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::int64_t process_rss_bytes_max() {
  return std::int64_t{usage_of_process().ru_maxrss} * 1024;  // Linux counts in KiB
}

}  // namespace stoker
