// The odds of random plants. Every figure is meant to be one that is met: recipes from 5 us to 20 ms of a core, copies
// of 1 to 60 GB/s, stores from a local drive to objects in a cloud. What limits the best setting is left to come out;
// only where one resource would hardly ever be the limit, some plants are given little of it.

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <string_view>

#include "stoker/base/random.h"
#include "stoker/tuner/plant/plant_testing.h"

namespace stoker {
namespace {

constexpr std::uint64_t kMixStream = 3;

// One draw in an expression at most: the order in which a sum's terms are computed is the compiler's choice.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed, 0, 0, kMixStream) {}

  bool chance(double of) { return random_.uniform() < of; }
  double between(double low, double high) { return random_.uniform(low, high); }
  double log_between(double low, double high) { return low * std::exp(random_.uniform() * std::log(high / low)); }
  int log_count(int low, int high) {
    return std::min(high, static_cast<int>(log_between(low, high + 1)));  // rounded down, so that low is met
  }
  /// About 1, with this standard deviation of the logarithm.
  double about_one(double deviation) {
    const double radius = std::sqrt(-2 * std::log(1 - random_.uniform()));
    return std::exp(deviation * radius * std::cos(2 * std::numbers::pi * random_.uniform()));
  }
  template <typename List>
  auto one_of(const List& list) {
    return list[random_.below(std::size(list))];
  }

 private:
  Random random_;
};

struct StageForm {
  std::string_view name;
  double work;         // of the recipe's, in proportion
  double bytes;        // handed on, against those of a finished sample
  bool device = true;  // can do it
};

// What people train on: how dear a sample is, how large it is, and what is done with it.
struct RecipeForm {
  double cpu_s_low, cpu_s_high;
  double bytes_low, bytes_high;  // of a finished sample
  double coded_low, coded_high;  // of that
  std::vector<StageForm> stages;
};

const std::array<RecipeForm, 7>& recipe_forms() {
  static const std::array<RecipeForm, 7> forms{{
      // Photographs for classification.
      {0.5e-3, 6e-3, 150e3, 800e3, 0.1, 0.5, {{"decode", 6, 0.8}, {"resample", 3, 0.25}, {"finish", 1, 1}}},
      // Icons and digits.
      {5e-6, 120e-6, 3e3, 50e3, 0.1, 0.4, {{"decode", 3, 0.25}, {"augment", 2, 0.25}, {"finish", 2, 1}}},
      // Large images with boxes or masks.
      {3e-3,
       20e-3,
       1e6,
       12e6,
       0.05,
       0.3,
       {{"decode", 6, 0.5}, {"resize", 2, 0.25}, {"mask", 2, 0.3, false}, {"jitter", 3, 0.25}, {"finish", 1, 1}}},
      // Text, which only the CPU cuts into tokens.
      {10e-6, 800e-6, 2e3, 40e3, 0.2, 1.5, {{"tokens", 5, 0.5, false}, {"pad", 1, 1}}},
      // Tensors stored as they are.
      {20e-6,
       1.5e-3,
       50e3,
       4e6,
       0.25,
       1,
       {{"unpack", 2, 0.5}, {"augment", 3, 0.5}, {"scale", 1, 0.5}, {"finish", 1, 1}}},
      // Sound: decoded on the CPU, then spectra.
      {200e-6, 8e-3, 60e3, 1e6, 0.05, 0.5, {{"decode", 2, 1.2, false}, {"window", 1, 2}, {"spectrum", 4, 1}}},
      // Bytes that need only be made floats.
      {5e-6, 300e-6, 10e3, 800e3, 0.25, 0.26, {{"finish", 1, 1}}},
  }};
  return forms;
}

void draw_recipe(Dice& dice, PlantParts& parts) {
  const RecipeForm& form = recipe_forms()[dice.one_of(std::array<std::size_t, 9>{0, 0, 0, 1, 2, 3, 4, 5, 6})];
  const double cpu_s = dice.log_between(form.cpu_s_low, form.cpu_s_high);
  const double bytes = dice.log_between(form.bytes_low, form.bytes_high);
  const double speedup = dice.log_between(2, 120);  // of the device, against a core
  const bool no_device = dice.chance(0.04);
  std::size_t more = 6 - form.stages.size();
  double work = 0;
  for (const StageForm& stage : form.stages) {
    // Some leave a stage out, have one twice, or have written one that a device cannot run.
    if (!parts.stages.empty() && dice.chance(0.1)) continue;
    const double part = stage.work * dice.about_one(0.5);
    work += part;
    PlantStage& made = parts.stages.emplace_back();
    made.name = stage.name;
    made.cpu_s = cpu_s * part;
    made.bytes_out = bytes * stage.bytes * (stage.bytes == 1 ? 1 : dice.about_one(0.2));
    const bool custom = dice.chance(parts.stages.size() == 1 ? 0.15 : 0.04);
    if (stage.device && !custom && !no_device) made.device_s = made.cpu_s / (speedup * dice.about_one(0.6));
    if (more > 0 && dice.chance(0.1)) {
      --more;
      parts.stages.push_back(made);
      parts.stages.back().name += " again";
      work += part;
    }
  }
  for (PlantStage& stage : parts.stages) {
    stage.cpu_s /= work;
    if (stage.device_s) *stage.device_s /= work;
  }
  parts.coded_bytes = bytes * dice.log_between(form.coded_low, form.coded_high);
  parts.overhead_s = dice.log_between(0.5e-6, 15e-6);
  parts.overhead_s += cpu_s * dice.log_between(0.002, 0.05);
  parts.overhead_s += parts.coded_bytes / dice.log_between(1e9, 10e9);  // bytes that are checked and copied
  parts.batch = dice.one_of(std::array{32, 48, 64, 96, 128, 192, 256, 256, 384, 512, 768, 1024});

  // Calibrated on few samples: a little off, now and then by a quarter.
  const double all_off = dice.chance(0.15) ? dice.one_of(std::array{0.72, 0.8, 1.22, 1.3}) : 1;
  for (PlantStage& stage : parts.stages) {
    stage.cpu_told = all_off * dice.about_one(0.03);
    stage.device_told = dice.about_one(0.03);
    if (dice.chance(0.1)) stage.device_told *= dice.one_of(std::array{0.75, 1.28});
  }
}

void draw_machine(Dice& dice, PlantParts& parts) {
  PlantMachine& machine = parts.machine;
  machine.cores = dice.chance(0.12) ? dice.log_count(1, 3) : dice.log_count(4, 64);
  if (machine.cores >= 4 && dice.chance(0.5)) {
    machine.cores += machine.cores % 2;
    machine.second_thread = dice.between(0.1, 0.45);
  }
  machine.serial_share = dice.chance(0.3) ? 0 : dice.log_between(5e-4, 0.03);
  if (machine.cores >= 4 && dice.chance(0.25)) {
    const double peak = dice.between(0.35, 1.5) * machine.cores;  // of Gunther's law
    machine.coherence = (1 - machine.serial_share) / (peak * peak);
  }
  machine.memory_bytes_per_s = std::min(400e9, dice.log_between(4e9, 15e9) * std::max(1.0, machine.cores / 4.0));
  machine.memory_passes = dice.between(2, 4);
  machine.cold_share = dice.chance(0.5) ? dice.between(0, 0.02) : 0;
  machine.copy_bytes_per_s = dice.log_between(1e9, 60e9);

  parts.trainer.cores = std::min(0.7 * machine.cores, dice.log_between(0.05, 2));
  parts.trainer.host_share = dice.chance(0.5) ? dice.between(0, 0.6) : 0;
  const double of_step = dice.log_between(0.02, 0.5), of_batch = dice.log_between(0.1, 1.2);
  parts.trainer.jitter = of_step * of_step + of_batch * of_batch;
  parts.sharpness = dice.log_between(6, 60);

  parts.device.launch_s = dice.log_between(5e-6, 400e-6);
  parts.device.interference = dice.chance(0.2) ? 0 : dice.chance(0.3) ? 1 : dice.between(0, 1);
  parts.device.fills_gaps = dice.chance(0.5);

  parts.prefetch_max = dice.one_of(std::array{1, 2, 3, 4, 4, 6, 8, 8, 12, 16, 16});
  parts.io_depth_max = dice.log_count(1, 128);
}

void draw_store(Dice& dice, PlantParts& parts) {
  struct Form {
    double latency_low, latency_high, bytes_low, bytes_high;
  };
  const Form form = dice.one_of(std::array<Form, 4>{{
      {60e-6, 300e-6, 0.5e9, 7e9},   // solid-state drives
      {0.4e-3, 4e-3, 0.2e9, 2e9},    // network disks
      {4e-3, 12e-3, 0.08e9, 0.3e9},  // disks that turn
      {15e-3, 80e-3, 0.3e9, 6e9},    // objects
  }});
  PlantStore& store = parts.store;
  store.latency_s = dice.log_between(form.latency_low, form.latency_high);
  store.bytes_per_s = dice.log_between(form.bytes_low, form.bytes_high);
  store.samples_per_read = dice.chance(0.4) ? 1 : dice.log_count(2, 64);
  if (dice.chance(0.6)) {
    store.knee = std::max(1.5, parts.io_depth_max * dice.log_between(0.08, 1.5));
    store.decline = dice.log_between(0.05, 0.5);
  }
}

void draw_measuring(Dice& dice, PlantParts& parts) {
  PlantMeasuring& measuring = parts.measuring;
  measuring.steps = dice.log_count(20, 400);
  measuring.noise = dice.log_between(0.003, 0.04);
  if (dice.chance(0.12)) {
    measuring.outlier_share = dice.between(0.01, 0.05);
    measuring.outlier_size = dice.between(0.2, 0.6);
    measuring.outlier_in_step = dice.chance(0.5);
  }
  if (dice.chance(0.4)) measuring.transient = dice.between(0.1, 0.6);
  measuring.busy_counts_contention = dice.chance(0.5);
  if (dice.chance(0.25)) {
    parts.drift = {.of = dice.one_of(std::array{PlantDrift::Of::kStep, PlantDrift::Of::kStore, PlantDrift::Of::kCpu}),
                   .size = dice.between(0.01, 0.06),
                   .period = dice.between(200, 800),
                   .phase = dice.between(0, 1)};
  }
}

// What the best setting would do if the step took no time and this resource were never short.
double supply_without(PlantParts parts, PlantLimit without) {
  parts.trainer.step_s = 1e-9;
  if (without == PlantLimit::kStore) parts.store = {.latency_s = 1e-12, .bytes_per_s = 1e18};
  if (without == PlantLimit::kCopy) parts.machine.copy_bytes_per_s = 1e18;
  return Plant::of(parts).best().throughput;
}

double best_store_rate(const PlantParts& parts) {
  double most = 0;
  for (int depth = 1; depth <= parts.io_depth_max; ++depth) {
    most = std::max(most, plant_store_rate(parts, {}, {.prefetch = parts.prefetch_max, .io_depth = depth}));
  }
  return most;
}

// A store so many times as fast, as far as there are such: by other drives or the page cache, and by larger reads.
void scale_store(PlantStore& store, double times) {
  const double latency_s = std::clamp(store.latency_s / times, 5e-6, 0.2);
  const double still = times / (store.latency_s / latency_s);
  store.samples_per_read = std::clamp(store.samples_per_read * still, 1.0, 256.0);
  store.latency_s = latency_s;
  store.bytes_per_s = std::clamp(store.bytes_per_s * times, 20e6, 60e9);
}

// How the store, the copy and the step stand to what the rest can do: people choose them for one another, and err.
void draw_balance(Dice& dice, PlantParts& parts) {
  const bool little_copy = dice.chance(0.2), little_store = dice.chance(0.2);
  if (dice.chance(0.5)) {  // kernels that take about as long as the cores would
    double cpu_s = parts.overhead_s, device_s = 0;
    for (const PlantStage& stage : parts.stages) {
      cpu_s += stage.cpu_s;
      device_s += stage.device_s.value_or(0);
    }
    if (device_s > 0) {
      const double times = cpu_s / threads_max(parts.machine.cores) / (dice.log_between(0.5, 4) * device_s);
      for (PlantStage& stage : parts.stages) {
        if (stage.device_s) *stage.device_s *= times;
      }
    }
  }

  const double without_store = supply_without(parts, PlantLimit::kStore);
  const double store_ratio = best_store_rate(parts) / without_store;
  // Most people's store is good enough.
  double wanted = store_ratio;
  if (little_store) {
    wanted = dice.between(0.3, 0.9);
  } else if (dice.chance(0.85)) {
    wanted = std::max(store_ratio, dice.log_between(1.2, 8));
  }
  scale_store(parts.store, wanted / store_ratio);

  if (little_copy) {
    const double without_copy = supply_without(parts, PlantLimit::kCopy);
    double least = parts.coded_bytes;
    for (const PlantStage& stage : parts.stages) least = std::min(least, stage.bytes_out);
    const double narrow = dice.log_between(0.3, 1.2) * without_copy * least;
    parts.machine.copy_bytes_per_s = std::clamp(narrow, 1e9, 60e9);
  }

  const double supply = supply_without(parts, PlantLimit::kStep);
  const double hunger = dice.chance(0.2)   ? dice.log_between(0.2, 0.7)
                        : dice.chance(0.4) ? dice.log_between(0.7, 1.4)
                                           : dice.log_between(1.4, 10);
  parts.trainer.step_s = std::clamp(parts.batch / (supply * hunger), 0.5e-3, 10.0);
}

void draw_memory_limit(Dice& dice, PlantParts& parts) {
  if (!dice.chance(0.3)) return;
  // What some setting takes, and little more; there is always a setting that keeps it.
  const Plant free = Plant::of(parts);
  const KnobSetting some{.transfer_index = dice.one_of(free.indices()), .prefetch = dice.one_of(free.prefetches())};
  const double bytes = host_bytes(free.workload(), some) * dice.between(1, 1.3);
  parts.machine.memory_limit = static_cast<std::uint64_t>(std::ceil(bytes));
}

}  // namespace

PlantParts photograph_parts(double device_speed) {
  PlantParts parts;
  parts.machine.cores = 4;
  parts.trainer = {.step_s = 2e-3, .cores = 0.2};
  parts.device.interference = 0.5;
  parts.batch = 64;
  parts.coded_bytes = 110e3;
  parts.stages = {{.name = "decode", .cpu_s = 2e-3, .device_s = 6e-3, .bytes_out = 400e3},
                  {.name = "resample", .cpu_s = 0.7e-3, .device_s = 1e-3, .bytes_out = 150e3},
                  {.name = "finish", .cpu_s = 0.3e-3, .device_s = 0.1e-3, .bytes_out = 600e3}};
  for (PlantStage& stage : parts.stages) *stage.device_s /= device_speed;
  return parts;
}

PlantParts random_plant_parts(std::uint64_t seed) {
  Dice dice(seed);
  PlantParts parts;
  parts.seed = seed;
  draw_recipe(dice, parts);
  draw_machine(dice, parts);
  draw_store(dice, parts);
  draw_measuring(dice, parts);
  draw_balance(dice, parts);
  draw_memory_limit(dice, parts);
  return parts;
}

}  // namespace stoker
