// The rate that a pipeline can reach: the minimum over its resources of capacity divided by a sample's demand. Before a
// run the figures come from a calibration; every window corrects them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/tuner/knob_setting.h"
#include "stoker/tuner/response_surface.h"
#include "stoker/tuner/tuned_workload.h"
#include "stoker/tuner/tuner_window.h"

namespace stoker {

enum class Resource : std::uint8_t {
  kCpu,       // the worker threads
  kStore,     // reading
  kCopy,      // the way to the device
  kDevice,    // its kernels
  kConsumer,  // the training's own steps, and what the kernels take of them
  kOther,     // a limit at an index that none of these explains
  kCount,
};
std::string_view word_of(Resource resource);

/// Samples a second that each resource can carry.
struct PipelineCapacity {
  std::array<double, static_cast<std::size_t>(Resource::kCount)> rates;

  double& operator[](Resource resource) { return rates[static_cast<std::size_t>(resource)]; }
  double operator[](Resource resource) const { return rates[static_cast<std::size_t>(resource)]; }
  Resource limit() const;
  /// The least of them, and a little less if several are near it.
  double throughput() const;
};

class PipelineModel {
 public:
  explicit PipelineModel(const TunedWorkload& workload);

  /// The rate with one setting.
  struct Rate {
    KnobSetting knobs;
    Belief log;         // of samples a second
    double wait_share;  // of the consumer's time
  };

  /// Corrects the workload's costs and the consumer's step by the window. Then explains `rates`, of all settings that
  /// were tried: by the costs, and by effects that no window shows.
  void learn(const KnobSetting& knobs, const TunerWindow& window, const std::vector<Rate>& rates);
  /// Something has changed: from now on only later windows count. The costs found so far stay until later windows show
  /// others.
  void forget_windows();

  /// By the likeliest explanation.
  PipelineCapacity capacity(const KnobSetting& knobs) const;
  /// By any of explanations(), each with its likelihood; the likelihoods sum to 1.
  PipelineCapacity capacity(const KnobSetting& knobs, std::size_t explanation) const;
  /// If only the limits that windows show applied: threads, the device's kernels, the consumer.
  PipelineCapacity capacity_at_most(const KnobSetting& knobs) const;
  std::size_t explanations() const { return explanations_.size(); }
  double likelihood(std::size_t explanation) const { return explanations_[explanation].likelihood; }
  /// Of a sample: seconds of a core, with as many threads, and of the device.
  double cpu_s(const KnobSetting& knobs) const { return cpu_s(knobs, costs_[explanations_[likeliest_].costs]); }
  double device_s(int transfer_index) const;
  /// Of the consumer's step. Unset before any window.
  std::optional<double> step_s(const KnobSetting& knobs) const;
  /// The deviation of a sample's cost in a window from that expected from earlier windows, as a logarithm: on the side
  /// where it is larger, of the stage that deviates the least. 0 without earlier windows.
  double cost_off(const KnobSetting& knobs, const TunerWindow& window) const;

 private:
  struct Seen {
    KnobSetting knobs;
    std::vector<double> cost_logs;  // of the stages: measured against stated, NaN where not seen
    double step_s;
  };
  struct ToExplain {
    Rate seen;
    double rate;
    double weight;                        // of what is left unexplained of it
    std::vector<PipelineCapacity> shown;  // by each of costs_, without what is hidden
  };
  // Effects that no window shows, but that may explain the measured rates.
  struct Hidden {
    double overhead_s;        // of a core, for each sample, outside the stages
    double crowded_worth;     // of a thread on the second half of the cores, against one on the first
    double copy_bytes_per_s;  // to the device
    double read_latency_s;    // a sample's, divided by the I/O depth
    double reads_per_s;       // at any depth
    double read_crowding;     // by which that gets less with every read more that is under way
  };
  using HiddenPart = double Hidden::*;
  // How a sample's costs grow with the threads at work: by a part with every thread, or with all that are more than a
  // memory can serve.
  enum class Contention : std::uint8_t { kLinear, kWall };
  struct Costs {
    Contention contention = Contention::kLinear;
    double amount = 0;             // of the one: the part; of the other: the threads that are served; 0: none
    std::vector<double> cpu_logs;  // by stage: on one thread, against what was stated; NaN where never seen
  };
  static const Hidden kNothingHidden;
  struct Explanation {
    std::size_t costs;  // of costs_
    Hidden hidden;
    std::vector<double> held_at;  // by index: the fastest, where even this does not explain why; else infinite
    double likelihood;
  };

  std::vector<double> cost_logs(const KnobSetting& knobs, const TunerWindow& window) const;
  void learn_costs();
  Costs fit_costs(Contention contention, double stated_error) const;
  void learn_device_costs();
  void learn_step();
  void explain(const std::vector<Rate>& rates);
  void fit(std::span<const HiddenPart> parts, Explanation& explanation) const;
  /// Exact below `enough`; at or above it, whatever of the sum was needed to get there.
  double unexplained(const Explanation& explanation, double enough = std::numeric_limits<double>::infinity()) const;
  std::vector<double> held_at(const Explanation& explanation) const;
  PipelineCapacity capacity(const ToExplain& rate, const Explanation& explanation) const;
  static bool on_cpu(std::size_t stage, int transfer_index) { return static_cast<int>(stage) <= transfer_index; }
  static double contended_log(const Costs& costs, int threads);
  double cpu_s(const KnobSetting& knobs, const Costs& costs) const;
  PipelineCapacity shown_capacity(const KnobSetting& knobs, const Costs& costs) const;
  void add_hidden(const Hidden& hidden, const KnobSetting& knobs, PipelineCapacity& capacity) const;

  const TunedWorkload workload_;
  const std::vector<TunedStage>
      stages_;  // what is handed over, then the workload's: one more on the CPU than the index
  std::vector<Seen> seen_;
  std::vector<ToExplain> rates_;
  // From the windows alone; or as stated, if contention can explain the windows.
  std::vector<Costs> costs_;
  std::vector<double> device_logs_;   // as Costs::cpu_logs
  std::optional<double> own_step_s_;  // without kernels
  double kernel_share_ = 0.5;         // of the kernels' seconds that lengthen the step
  double step_crowding_ = 0;          // by which part it gets longer with every thread that works beside it,
  double step_served_ = 1;            // beyond so many, which have cores of their own
  std::vector<Explanation> explanations_;
  std::size_t likeliest_ = 0;
};

}  // namespace stoker
