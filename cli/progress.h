// The progress of a long command: one line on a terminal with rate and time left; nothing if there is no terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker {

/// Rate and time left are computed from the work done in this time: `done_before` was done earlier. "run: 12,800 of
/// 1,281,167 samples (1%), 410 samples/s, 51 min 34 s left".
std::string progress_line(std::string_view what, std::string_view unit, std::int64_t done, std::int64_t total,
                          double elapsed_s, std::int64_t done_before = 0);

/// Not for several threads at once; only one may live at a time.
class Progress {
 public:
  /// `what` and `unit` must outlive it. `done_before`: the work of an earlier call.
  Progress(std::string_view what, std::string_view unit, std::int64_t total, std::int64_t done_before = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::int64_t done);
  /// The same, if the total was not known at the beginning.
  void update(std::int64_t done, std::int64_t total);

 private:
  std::string_view what_, unit_;
  std::int64_t total_, done_before_;
  bool shown_;
  std::int64_t began_ns_, drawn_ns_;
};

}  // namespace stoker
