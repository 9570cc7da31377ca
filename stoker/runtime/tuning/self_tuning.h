// A loader that tunes itself: the thread that measures windows, asks the tuner, and turns the knobs. The consumer's
// thread only reports each batch's period.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stoker/runtime/loader.h"
#include "stoker/runtime/probe/crossing_probe.h"
#include "stoker/runtime/report/metrics_window.h"
#include "stoker/runtime/share/host_share.h"
#include "stoker/runtime/tuning/kept_tuning.h"
#include "stoker/runtime/tuning/tuning_window.h"
#include "stoker/tuner/tuner.h"
#include "stoker/tuner/tuning_log.h"

namespace stoker {

/// The interface of a loader to its tuning. Threads: any.
class TunedLoader {
 public:
  virtual ~TunedLoader() = default;
  virtual Metrics metrics() const = 0;
  virtual KnobSetting knobs() const = 0;
  /// Like Loader::set(), but does not change knobs that the user has fixed.
  virtual void turn(const KnobSetting& knobs) = 0;
  /// As calibrate() returns it.
  virtual std::optional<std::vector<CrossingCost>> calibrate(const std::function<bool()>& stop) = 0;
};

struct SelfTuningOptions {
  bool once = false;
  std::string title;         // of the log
  TunedWorkload workload;    // without stages
  TunerLimits limits;        // with what the user fixed
  std::vector<int> cores;    // that threads stay on; none: they run anywhere
  std::string cache_folder;  // where settled knobs are kept; empty: nowhere
  TuningKey key;
  HostShareOptions share{};
  TuningWindowLimits window{};
  std::function<void(const TuningMove&)>
      moved{};  // called by the tuning thread for each move; at first without a window
};

class SelfTuning {
 public:
  /// The loader must outlive it.
  SelfTuning(TunedLoader& loader, SelfTuningOptions options);
  ~SelfTuning() { stop(); }

  /// Throws kMemory when the machine refuses a thread.
  void start();
  /// Waits until the thread has ended, unless it is the caller's, which then ends by itself. Idempotent.
  void stop();

  /// The consumer's thread: a batch was delivered, and not the first.
  void delivered(const BatchPeriod& period) noexcept;
  /// Marks these knobs as fixed by the user. Threads: any, for this and all following functions.
  void fix(const Knobs& knobs);
  TuningLog log() const;

 private:
  struct Window {
    KnobSetting knobs;
    MetricsWindow metrics;
    TuningWindow::Result result;
    double made, delivered;  // slots
  };

  void run() noexcept;
  static void tell_end(const std::exception_ptr& why) noexcept;
  void tune();
  void rest(const Tuner& tuner);
  void begin();
  bool wait_for_first_batch();
  bool find_costs();
  bool fixed_index() const;
  bool add(const BatchPeriod& period);
  bool limits_changed() const;
  TunerLimits take_limits();
  void make_tuner(std::optional<Tuner>& tuner);
  void find_share(const Tuner* tuner);
  void limit_threads(Tuner& tuner);
  void tell_share();
  int wanted_threads(const Tuner* tuner) const;
  std::optional<Window> next_window(int skip, const Tuner* tuner);
  TunerWindow tuner_window(const Window& window) const;
  void learn(const Window& window, Tuner& tuner);
  void keep(const TuningMove& move);
  double at_s() const;
  bool stopping() const;

  TunedLoader& loader_;
  const SelfTuningOptions options_;
  const KeptTuning kept_;

  // The tuning thread only.
  enum class Costs : std::uint8_t { kNone, kOfOne, kOfAll };
  TunedWorkload workload_;
  Costs costs_ = Costs::kNone;  // that the workload has: of which transfer index
  int costs_index_ = 0;
  std::optional<KnobSetting> start_, kept_knobs_;  // as they were kept, and are kept now
  HostShare share_;
  int most_threads_;     // by what is fair
  int told_others_ = 0;  // loaders that it shares the cores with, and how many threads that leaves, as last told
  int told_threads_ = 0;
  double wait_share_ = 1;  // of the last window
  std::int64_t began_ns_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable wakes_;
  // Guarded by it.
  TunerLimits limits_;
  bool limits_changed_ = false;
  bool stopping_ = false;
  bool open_ = false;  // a window is being collected
  std::int64_t deliveries_ = 0;
  TuningWindow window_;
  TuningWindowLimits window_limits_;
  std::optional<Metrics> begin_, end_;  // of the window
  TuningLog log_;

  std::atomic<std::thread::id> thread_id_{};  // once it runs
  std::mutex thread_mutex_;                   // of start() and stop()
  std::thread thread_;
};

}  // namespace stoker
