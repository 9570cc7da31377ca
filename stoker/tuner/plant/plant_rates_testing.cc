#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <utility>

#include "stoker/tuner/plant/plant_parts_testing.h"

namespace stoker {
namespace {

constexpr double kNoLimit = 1e30;  // samples/s

// The least of the rates, with corners rounded: where two are equal, each stands in the other's way for a while.
double smooth_min(std::span<const double> rates, double sharpness) {
  const double least = *std::ranges::min_element(rates);
  double sum = 0;
  for (const double rate : rates) sum += rate > 1e6 * least ? 0 : std::pow(least / rate, sharpness);
  return least * std::pow(sum, -1 / sharpness);
}

// The logical cores that are left, and what they are worth when so many threads want to run.
struct Cores {
  Cores(const PlantMachine& machine, int lost, double wanted) {
    const double left = std::max(1, machine.cores - lost);
    const double busy = std::min(left, wanted);
    const double whole = machine.second_thread < 1 ? std::max(1.0, left / 2) : left;
    worth = std::min(busy, whole) + machine.second_thread * std::max(0.0, busy - whole);
  }
  double worth;
};

struct CpuPart {
  double rate = 0;
  double work_s = 0;       // of a core, per sample
  double step_longer = 1;  // for work of the step on the host
};

// What crosses to the device at index k.
double crossing_bytes(const PlantParts& parts, int k) {
  return k == 0 ? parts.coded_bytes : parts.stages[static_cast<std::size_t>(k) - 1].bytes_out;
}

CpuPart cpu_part(const PlantParts& parts, const PlantMoment& moment, const KnobSetting& knobs) {
  const PlantMachine& machine = parts.machine;
  CpuPart part;
  double moved = parts.coded_bytes;
  part.work_s = parts.overhead_s;
  for (int j = 0; j < knobs.transfer_index; ++j) {
    const PlantStage& stage = parts.stages[static_cast<std::size_t>(j)];
    part.work_s += stage.cpu_s * moment.cpu;
    moved += stage.bytes_out;
  }
  part.work_s *= 1 + machine.cold_share * (knobs.prefetch - 1) / knobs.prefetch;
  moved = machine.memory_passes * moved + crossing_bytes(parts, knobs.transfer_index);

  // The system shares its cores alike among workers and what the training itself runs.
  const double wanted = knobs.threads + parts.trainer.cores;
  const double worth = Cores(machine, moment.cores_lost, wanted).worth;
  const double power = worth * knobs.threads / wanted;
  const double others = std::max(0.0, power - 1);
  const double slower = 1 + machine.serial_share * others + machine.coherence * power * others;
  part.rate = smooth_min(std::array{power / (part.work_s * slower), machine.memory_bytes_per_s / moved}, 4);
  part.step_longer = 1 + parts.trainer.host_share * (wanted / worth - 1);
  return part;
}

// How sharp the corner is where supply and demand meet. A queue of so many batches between two that vary loses about
// 1 / (1 + 2 length / variance) where they are equally fast; a smooth minimum loses ln 2 / sharpness there.
double corner(const PlantParts& parts, int prefetch) {
  if (parts.trainer.jitter == 0) return parts.sharpness;
  return std::min(parts.sharpness, std::numbers::ln2 * (1 + 2 * prefetch / parts.trainer.jitter));
}

}  // namespace

std::string_view name_of(PlantLimit limit) {
  switch (limit) {
    case PlantLimit::kCpu: return "CPU";
    case PlantLimit::kCopy: return "copy";
    case PlantLimit::kDevice: return "device";
    case PlantLimit::kStore: return "store";
    case PlantLimit::kStep: return "step";
  }
  return "";
}

TunedWorkload told_workload(const PlantParts& parts) {
  TunedWorkload told;
  told.cores = parts.machine.cores;
  told.memory_bytes = parts.machine.memory_limit;
  told.batch = parts.batch;
  told.prefetch_max = parts.prefetch_max;
  told.io_depth_max = parts.io_depth_max;
  for (const PlantStage& stage : parts.stages) {
    TunedStage& as_told = told.stages.emplace_back();
    as_told.name = stage.name;
    as_told.cpu_s = stage.cpu_s * stage.cpu_told;
    if (stage.device_s) as_told.device_s = *stage.device_s * stage.device_told;
    as_told.bytes_out = stage.bytes_out;
  }
  return told;
}

double plant_store_rate(const PlantParts& parts, const PlantMoment& moment, const KnobSetting& knobs) {
  const PlantStore& store = parts.store;
  // Reads are for batches that may be made, so few batches cannot keep many reads under way.
  const double depth = std::min<double>(knobs.io_depth, (knobs.prefetch + 1) * parts.batch / store.samples_per_read);
  const double by_latency = depth * store.samples_per_read / (store.latency_s * moment.store);
  const double by_bandwidth = store.bytes_per_s / (parts.coded_bytes * moment.store);
  const double too_deep = std::max(0.0, depth / store.knee - 1);
  return smooth_min(std::array{by_latency, by_bandwidth}, 3) / (1 + store.decline * too_deep);
}

PlantRates plant_rates(const PlantParts& parts, const PlantMoment& moment, const KnobSetting& knobs) {
  const CpuPart cpu = cpu_part(parts, moment, knobs);
  double kernels_s = 0;  // of a batch
  for (std::size_t j = static_cast<std::size_t>(knobs.transfer_index); j < parts.stages.size(); ++j) {
    kernels_s += parts.batch * parts.stages[j].device_s.value_or(0) + parts.device.launch_s;
  }
  const double own_step_s = parts.trainer.step_s * moment.step * cpu.step_longer;
  // Two streams of work on one device: at interference 1 each waits for all of the other.
  const double taken_s = parts.device.interference * std::min(own_step_s, kernels_s);

  PlantRates rates;
  rates.cpu = cpu.rate;
  rates.copy = parts.machine.copy_bytes_per_s / crossing_bytes(parts, knobs.transfer_index);
  rates.device = kernels_s > 0 ? parts.batch / (kernels_s + taken_s) : kNoLimit;
  rates.store = plant_store_rate(parts, moment, knobs);
  rates.step = parts.batch / (own_step_s + taken_s);
  // A batch stays in its buffer from its first sample to its last kernel, and there are so many buffers.
  const double ring = (knobs.prefetch + 1) / (1 / rates.cpu + 1 / rates.copy + 1 / rates.device);
  const std::array each{rates.cpu, rates.copy, rates.device, rates.store, rates.step, ring};
  rates.throughput = smooth_min(each, corner(parts, knobs.prefetch));
  rates.limit = static_cast<PlantLimit>(std::ranges::min_element(each.begin(), each.end() - 1) - each.begin());

  const double full_s = own_step_s + taken_s;
  const double idle = std::max(0.0, 1 - full_s * rates.throughput / parts.batch);
  rates.step_s = own_step_s + taken_s * (parts.device.fills_gaps ? 1 - idle : 1);
  // Workers that have nothing to do do not stand in the way.
  const double use = std::min(1.0, rates.throughput / rates.cpu);
  rates.contention = 1 + (std::max(1.0, knobs.threads / (rates.cpu * cpu.work_s)) - 1) * use;
  return rates;
}

}  // namespace stoker
