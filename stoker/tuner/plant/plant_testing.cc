#include "stoker/tuner/plant/plant_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <utility>

#include "stoker/base/random.h"

namespace stoker {
namespace {

// Drift goes in small steps, so that what is best need not be found anew for every window.
constexpr std::int64_t kDriftStep = 8;  // windows

// Streams of random numbers, so that none depends on how many another drew.
enum : std::uint64_t { kWindowStream = 1, kChangeStream = 2 };

double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

double log_uniform(Random& random, double low, double high) {
  return low * std::exp(random.uniform() * std::log(high / low));
}

std::vector<int> powers_up_to(int most) {
  std::vector<int> values;
  for (int value = 1; value < most; value *= 2) values.push_back(value);
  values.push_back(most);
  return values;
}

std::string drift_text(const PlantDrift& drift) {
  switch (drift.of) {
    case PlantDrift::Of::kNothing: return "";
    case PlantDrift::Of::kStep: return fmt::format(", step drifts by {:.0f}%", 100 * drift.size);
    case PlantDrift::Of::kStore: return fmt::format(", store drifts by {:.0f}%", 100 * drift.size);
    case PlantDrift::Of::kCpu: return fmt::format(", recipe drifts by {:.0f}%", 100 * drift.size);
  }
  return "";
}

}  // namespace

Plant::Plant(PlantParts parts) : parts_(std::move(parts)), told_(told_workload(parts_)) {
  const int stages = static_cast<int>(parts_.stages.size());
  int first = stages;
  while (first > 0 && parts_.stages[static_cast<std::size_t>(first) - 1].device_s) --first;
  for (int k = first; k <= stages; ++k) indices_.push_back(k);
}

std::string Plant::describe() const {
  double cpu_s = 0, device_s = 0, on_both_s = 0;
  for (const PlantStage& stage : parts_.stages) {
    cpu_s += stage.cpu_s;
    device_s += stage.device_s.value_or(0);
    if (stage.device_s) on_both_s += stage.cpu_s;
  }
  const KnobSetting& knobs = best().setting;
  std::string text = fmt::format("plant {}: {} cores{}", parts_.seed, parts_.machine.cores,
                                 parts_.machine.second_thread < 1 ? " (hyper-threads)" : "");
  if (cores_lost_ > 0) text += fmt::format(", {} lost", cores_lost_);
  text += fmt::format(", {} stages of {:.0f} us, batch {}, step {:.1f} ms", parts_.stages.size(), 1e6 * cpu_s,
                      parts_.batch, 1e3 * parts_.trainer.step_s);
  text += fmt::format(", copy {:.1f} GB/s, indices {} to {}", parts_.machine.copy_bytes_per_s / 1e9, indices_.front(),
                      indices_.back());
  if (device_s > 0) {
    text +=
        fmt::format(", device {:.0f} x a core, interference {:.2f}", on_both_s / device_s, parts_.device.interference);
  }
  text += fmt::format(", store {:.2f} ms, {:.2f} GB/s", 1e3 * parts_.store.latency_s, parts_.store.bytes_per_s / 1e9);
  if (parts_.machine.memory_limit > 0) text += ", memory limited";
  text += fmt::format(", noise {:.1f}%", 100 * parts_.measuring.noise);
  if (parts_.measuring.outlier_share > 0) text += " and outliers";
  text += drift_text(parts_.drift);
  return text + fmt::format("; best {} threads, index {}, prefetch {}, depth {}: {:.0f}/s, limited by the {}",
                            knobs.threads, knobs.transfer_index, knobs.prefetch, knobs.io_depth, best().throughput,
                            name_of(rates(knobs).limit));
}

bool Plant::allowed(const KnobSetting& knobs) const {
  const auto within = [](int value, int most) { return value >= 1 && value <= most; };
  return within(knobs.threads, threads_max(told_.cores)) && within(knobs.prefetch, told_.prefetch_max) &&
         within(knobs.io_depth, told_.io_depth_max) && std::ranges::count(indices_, knobs.transfer_index) == 1 &&
         (told_.memory_bytes == 0 || host_bytes(told_, knobs) <= static_cast<double>(told_.memory_bytes));
}

std::vector<int> Plant::prefetches() const { return powers_up_to(told_.prefetch_max); }

std::vector<int> Plant::io_depths() const { return powers_up_to(told_.io_depth_max); }

const PlantBest& Plant::best() const {
  if (best_) return *best_;
  const PlantMoment now = moment();
  std::vector<PlantBest> of_threads(static_cast<std::size_t>(threads_max(told_.cores)));
  for (const int prefetch : prefetches()) {
    // The depth shows in the store's rate alone, and no rate that is higher makes the throughput lower.
    const std::vector<int> depths = io_depths();
    const auto store_rate = [&](int depth) {
      return plant_store_rate(parts_, now, {.prefetch = prefetch, .io_depth = depth});
    };
    const int depth = *std::ranges::max_element(depths, {}, store_rate);
    for (const int index : indices_) {
      for (int threads = 1; threads <= threads_max(told_.cores); ++threads) {
        const KnobSetting knobs{threads, index, prefetch, depth};
        if (!allowed(knobs)) continue;
        PlantBest& so_far = of_threads[static_cast<std::size_t>(threads) - 1];
        const double throughput = plant_rates(parts_, now, knobs).throughput;
        if (throughput <= so_far.throughput) continue;
        so_far.setting = knobs;
        so_far.throughput = throughput;
      }
    }
  }
  PlantBest best = *std::ranges::max_element(of_threads, {}, &PlantBest::throughput);
  assert(best.throughput > 0);  // a memory limit that no setting keeps is no plant
  const auto near = [&](const PlantBest& point) { return point.throughput >= 0.99 * best.throughput; };
  const PlantBest& cheapest = *std::ranges::find_if(of_threads, near);
  best.cheapest = cheapest.setting;
  best.cheapest_throughput = cheapest.throughput;
  return best_.emplace(best);
}

double Plant::drift() const {
  const double turns = parts_.drift.phase + static_cast<double>(windows_ - windows_ % kDriftStep) / parts_.drift.period;
  return std::exp(parts_.drift.size * std::sin(2 * std::numbers::pi * turns));
}

PlantMoment Plant::moment() const {
  PlantMoment now{.cores_lost = cores_lost_ + cores_disturbed_};
  switch (parts_.drift.of) {
    case PlantDrift::Of::kNothing: break;
    case PlantDrift::Of::kStep: now.step = drift(); break;
    case PlantDrift::Of::kStore: now.store = drift(); break;
    case PlantDrift::Of::kCpu: now.cpu = drift(); break;
  }
  return now;
}

void Plant::pass_window() {
  ++windows_;
  if (parts_.drift.of != PlantDrift::Of::kNothing && windows_ % kDriftStep == 0) best_.reset();
  if (windows_disturbed_ > 0 && --windows_disturbed_ == 0) {
    cores_disturbed_ = 0;
    best_.reset();
  }
}

// What a share of a window with this setting adds to it, on average.
void Plant::add_part(const KnobSetting& knobs, double share, TunerWindow& window) const {
  const PlantRates of = rates(knobs);
  const PlantMoment now = moment();
  const double samples = share * static_cast<double>(window.samples);
  window.seconds += samples / of.throughput;
  window.step_s += share * of.step_s;
  for (std::size_t j = 0; j < parts_.stages.size(); ++j) {
    const PlantStage& stage = parts_.stages[j];
    if (static_cast<int>(j) < knobs.transfer_index) {
      const double slower = parts_.measuring.busy_counts_contention ? of.contention : 1;
      window.stages[2 * j].seconds += samples * stage.cpu_s * now.cpu * slower;
    } else {
      window.stages[2 * j + 1].seconds +=
          samples * (stage.device_s.value_or(0) + parts_.device.launch_s / parts_.batch);
    }
  }
}

void Plant::add_noise(TunerWindow& window) const {
  const PlantMeasuring& measuring = parts_.measuring;
  Random random(parts_.seed, 0, static_cast<std::uint64_t>(windows_), kWindowStream);
  // The part that is at work most varies most: of a window that is longer, the step has as much as it has of the time.
  const double factor = std::exp(measuring.noise * normal(random));
  double period_s = window.seconds / measuring.steps;  // from step to step
  const double in_step = window.step_s / period_s;
  period_s *= factor;
  window.step_s *= std::pow(factor, in_step);
  for (TunerWindow::Stage& stage : window.stages) stage.seconds *= factor * std::exp(0.003 * normal(random));
  if (random.uniform() < measuring.outlier_share) {
    const double longer = random.uniform(0.1, measuring.outlier_size) * period_s;
    period_s += longer;
    if (measuring.outlier_in_step) window.step_s += longer;
  }
  window.wait_s = measuring.steps * std::max(0.0, period_s - window.step_s);
  window.seconds = measuring.steps * window.step_s + window.wait_s;
}

TunerWindow Plant::run(const KnobSetting& knobs) {
  assert(allowed(knobs));
  TunerWindow window;
  window.samples = static_cast<std::int64_t>(parts_.measuring.steps) * parts_.batch;
  for (const PlantStage& stage : parts_.stages) {
    window.stages.push_back({.name = stage.name, .side = StageSide::kCpu});
    window.stages.push_back({.name = stage.name, .side = StageSide::kDevice});
  }
  const KnobSetting before = last_.value_or(knobs);
  const double old_share = before == knobs ? 0 : parts_.measuring.transient;
  add_part(knobs, 1 - old_share, window);
  if (old_share > 0) add_part(before, old_share, window);
  std::erase_if(window.stages, [](const TunerWindow::Stage& stage) { return stage.seconds == 0; });
  add_noise(window);

  // No thread is busy for longer than the window was.
  const int threads = std::max(knobs.threads, before.threads);
  double busy_s = 0;
  for (const TunerWindow::Stage& stage : window.stages) busy_s += stage.side == StageSide::kCpu ? stage.seconds : 0;
  const double least = std::min(1.0, threads * window.seconds / std::max(busy_s, 1e-300));
  for (TunerWindow::Stage& stage : window.stages) stage.seconds *= stage.side == StageSide::kCpu ? least : 1;

  last_ = knobs;
  pass_window();
  return window;
}

std::string Plant::change(std::uint64_t seed) {
  Random random(parts_.seed, seed, static_cast<std::uint64_t>(windows_), kChangeStream);
  best_.reset();
  switch (random.below(7)) {
    case 0: {
      const double times = random.uniform(2, 4);
      parts_.trainer.step_s *= times;
      return fmt::format("the step takes {:.1f} times as long", times);
    }
    case 1: {
      const double times = random.uniform(2, 4);
      parts_.trainer.step_s /= times;
      return fmt::format("the step is {:.1f} times as fast", times);
    }
    case 2: {
      if (cores_lost_ > 0) {
        cores_lost_ = 0;
        return "the cores come back";
      }
      cores_lost_ = static_cast<int>(std::lround(random.uniform(0.25, 0.6) * parts_.machine.cores));
      cores_lost_ = std::min(cores_lost_, parts_.machine.cores - 1);
      return fmt::format("{} cores are lost", cores_lost_);
    }
    case 3: {
      const double times = log_uniform(random, 2, 6);
      parts_.store.latency_s *= times;
      parts_.store.bytes_per_s /= times;
      return fmt::format("the store is {:.1f} times as slow", times);
    }
    case 4: {
      const double times = log_uniform(random, 1.4, 3);
      for (PlantStage& stage : parts_.stages) {
        stage.cpu_s *= times;
        if (stage.device_s) *stage.device_s *= times;
      }
      parts_.coded_bytes *= times;
      return fmt::format("the images are {:.1f} times as large", times);
    }
    case 5: {
      const double times = log_uniform(random, 2, 5);
      for (PlantStage& stage : parts_.stages) {
        if (stage.device_s) *stage.device_s *= times;
      }
      return fmt::format("the device's kernels take {:.1f} times as long", times);
    }
    default: {
      const double times = log_uniform(random, 2, 6);
      parts_.machine.copy_bytes_per_s /= times;
      return fmt::format("the copy is {:.1f} times as narrow", times);
    }
  }
}

void Plant::disturb(int cores, int windows) {
  cores_disturbed_ = windows > 0 ? cores : 0;
  windows_disturbed_ = std::max(0, windows);
  best_.reset();
}

}  // namespace stoker
