#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console.h"
#include "stoker/base/clock.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::int64_t kRedrawNs = 100'000'000;

std::string count(std::int64_t n) { return format_count(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0))); }

}  // namespace

std::string progress_line(std::string_view what, std::string_view unit, std::int64_t done, std::int64_t total,
                          double elapsed_s, std::int64_t done_before) {
  const auto share = static_cast<double>(done) / static_cast<double>(std::max<std::int64_t>(total, 1));
  std::string line = fmt::format("{}: {} of {} {} ({:.0f}%)", what, count(done), count(total), unit, 100 * share);
  if (done <= done_before || elapsed_s <= 0) return line;
  const double rate = static_cast<double>(done - done_before) / elapsed_s;
  line += fmt::format(", {:.{}f} {}/s", rate, rate < 10 ? 1 : 0, unit);
  if (done < total) line += fmt::format(", {} left", format_duration(static_cast<double>(total - done) / rate));
  return line;
}

Progress::Progress(std::string_view what, std::string_view unit, std::int64_t total, std::int64_t done_before)
    : what_(what),
      unit_(unit),
      total_(total),
      done_before_(done_before),
      shown_(standard_error_is_terminal()),
      began_ns_(now_ns()),
      drawn_ns_(began_ns_) {}

Progress::~Progress() {
  if (shown_) set_status_line("");
}

void Progress::update(std::int64_t done, std::int64_t total) {
  total_ = total;
  update(done);
}

void Progress::update(std::int64_t done) {
  if (!shown_) return;
  const std::int64_t now = now_ns();
  if (now - drawn_ns_ < kRedrawNs) return;
  drawn_ns_ = now;
  set_status_line(progress_line(what_, unit_, done, total_, static_cast<double>(now - began_ns_) * 1e-9, done_before_));
}

}  // namespace stoker
