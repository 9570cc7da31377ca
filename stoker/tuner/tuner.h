// Finds the knobs that feed training at the least cost, by trying them while training runs. It receives the
// measurements of each window and returns the knobs for the next one, with the reason. It never sees data, starts no
// thread and reads no clock: the program that runs the pipeline drives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/tuner/search_watch.h"
#include "stoker/tuner/setting_beliefs.h"
#include "stoker/tuner/settled_watch.h"

namespace stoker {

struct TunerOptions {
  TunerLimits limits{};
  std::optional<KnobSetting> start{};  // where to begin, as far as permitted, and
  std::string start_is{};              // its description, in a few words
  bool once = false;                   // stop tuning once settled: later changes are ignored
};

/// Settings are ordered by training's rate, then by threads, then by the device's time: of the settings that are almost
/// as fast as the fastest, the cheapest is the best.
class Tuner {
 public:
  explicit Tuner(const TunedWorkload& workload, TunerOptions options = {});
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  /// For the next window.
  const KnobSetting& knobs() const { return knobs_; }
  /// One sentence that explains the knobs.
  const std::string& why() const { return why_; }
  /// Whether the tuner has settled: the knobs stay until something changes; occasionally another setting is tried for
  /// one window.
  bool settled() const { return settled_on().has_value(); }
  /// Also while another setting is tried.
  std::optional<KnobSetting> settled_on() const;

  /// Takes the measurements of the window with knobs(). A window without samples changes nothing.
  void see(const TunerWindow& window);
  /// Changes the number of threads that may be used. If more could help, the tuner searches again.
  void limit_threads(int most);

  const PipelineModel& model() const { return beliefs_.model(); }

 private:
  enum class Phase : std::uint8_t { kSearch, kSettled, kProbe };

  Belief rate_before() const;
  void search(const TunerWindow& window, double odd);
  void try_next();
  std::string doubt_of(const Trial& trial) const;
  bool surprised(double rate_log) const;
  bool try_promising(const Standing& best, double fastest);
  bool try_untried(const Standing& best, double fastest);
  void try_knobs(const KnobSetting& knobs, const std::string& why);
  std::optional<Standing> to_confirm(const std::vector<Standing>& all, const Standing& best) const;
  void settle(const Standing& best);
  void watch(const WindowReading& now);
  void judge_probe(const WindowReading& now, bool is_first);
  void reopen(std::string_view because, double change);
  void go_to(const KnobSetting& knobs, std::string why);
  std::string text_of(const KnobSetting& knobs) const { return beliefs_.text_of(knobs); }

  const bool once_;
  SettingBeliefs beliefs_;
  SearchWatch search_watch_;
  SettledWatch settled_watch_;

  Phase phase_ = Phase::kSearch;
  KnobSetting knobs_;
  std::string why_;
  Belief expected_{};         // of knobs_, before they were tried; of best_, while another is probed
  KnobSetting best_;          // so far
  int searched_windows_ = 0;  // since the search began
  int search_windows_max_, confirm_windows_max_;
  std::optional<WindowReading> last_;
  KnobSetting last_knobs_;
};

}  // namespace stoker
