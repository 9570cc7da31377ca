#include "stoker/doctor/verdict/right_size.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "stoker/capacity/caches.h"
#include "stoker/doctor/model/predict.h"
#include "stoker/doctor/model/reading.h"
#include "stoker/doctor/model/resolved_run.h"
#include "stoker/doctor/model/scaling_curve.h"
#include "stoker/doctor/model/serving_simulation.h"
#include "stoker/doctor/verdict/what_if.h"

namespace stoker {
namespace {

constexpr double kFedIdle = 0.05;  // idle share, below which GPUs count as fed
constexpr double kNearest = 0.98;  // of the best rate, where they cannot be fed
constexpr double kScalesWell = 0.95;
constexpr int kCountsMost = 8;  // GPUs, nodes
constexpr double kCoresPerGpuMost = 256;
constexpr double kSpareCores = 1.5;  // against the fewest that would do, while the rest is sized
constexpr std::uint64_t kSizedMemoryUnit = 1ull << 30;
constexpr std::uint64_t kMemoryLeast = 4 * kSizedMemoryUnit, kMemoryPlenty = 4096 * kSizedMemoryUnit;
constexpr double kLoads[] = {0.1, 0.25, 0.5, 0.75, 0.9, 0.95};
constexpr double kSecondsPerHour = 3600;

double carried_by(const Prediction& prediction, Limiter limiter) {
  for (const Limit& limit : prediction.limits) {
    if (limit.limiter == limiter) return limit.samples_per_s;
  }
  return kUnlimited;
}

Limit limit_of_cores(const Prediction& prediction) {
  for (const Limit& limit : prediction.limits) {
    if (limit.limiter == Limiter::kCpuDecode || limit.limiter == Limiter::kCpuTransform) return limit;
  }
  return {Limiter::kCpuDecode, kUnlimited};
}

/// Takes away from a machine that has plenty of all, one part after another, as long as that feeds the GPUs.
class TrainingSizer {
 public:
  TrainingSizer(const Facts& facts, const Catalogue& catalogue)
      : facts_(facts),
        catalogue_(catalogue),
        gpus_(std::max(1, facts.step.gpus)),
        local_(!facts.store),
        over_network_(facts.store || (facts.storage && facts.storage->over_network)) {}

  TrainingSize size() {
    TrainingSize size;
    plenty();
    size.layout = layout_.empty() ? facts_.data.layout : layout_;
    size.cache = cache_.empty() ? facts_.run.cache : cache_;
    size.reachable = reachable_;
    // How much memory is needed depends on the cores, a little; and on the disk, which is to be fast enough for what
    // does not stay in memory.
    have_.cores = kSpareCores * least_cores();
    size.memory_bytes = least_memory();
    if (local_) {
      size.disk =
          least_class(catalogue_.disks, &Configuration::disk, facts_.storage ? facts_.storage->device_class : "");
    }
    if (over_network_) size.network = least_class(catalogue_.networks, &Configuration::network, "");
    size.vcpus_per_gpu = least_cores() / gpus_;
    return size;
  }

 private:
  // What the run has, and only if that cannot feed the GPUs another layout and a cache.
  void plenty() {
    have_.cores = kCoresPerGpuMost * gpus_;
    have_.memory_bytes = kMemoryPlenty;
    if (local_) have_.disk = fastest_disk();
    if (over_network_ && !catalogue_.networks.empty()) have_.network = catalogue_.networks.back();
    best_ = 0;
    for (const char* cache : {"", "ram"}) {
      for (const char* layout : {"", "packed"}) {
        if (*layout && facts_.data.layout != "loose") continue;
        Configuration tried = have_;
        if (*cache) tried.cache = cache;
        if (*layout) tried.layout = layout;
        const Prediction prediction = predict(facts_, tried);
        const bool fed = prediction.gpu_idle < kFedIdle;
        if (!fed && prediction.samples_per_s < best_ / kNearest) continue;
        best_ = prediction.samples_per_s;
        chosen_ = tried;
        cache_ = cache;
        layout_ = layout;
        if (fed) {
          have_ = chosen_;
          return;
        }
      }
    }
    reachable_ = false;
    have_ = chosen_;
  }

  std::optional<DiskClass> fastest_disk() const {
    std::optional<DiskClass> fastest;
    for (const DiskClass& disk : catalogue_.disks) {
      if (disk.name != "memory" && !disk.shared) fastest = disk;
    }
    return fastest;
  }

  bool enough(const Configuration& change) const {
    const Prediction prediction = predict(facts_, change);
    return reachable_ ? prediction.gpu_idle < kFedIdle : prediction.samples_per_s >= kNearest * best_;
  }

  // The slowest of the catalogue; of disks, one that is shared only if the data lie on such a one.
  template <typename Class>
  std::string least_class(const std::vector<Class>& classes, std::optional<Class> Configuration::*part,
                          const std::string& own) {
    for (const Class& one : classes) {
      if constexpr (std::is_same_v<Class, DiskClass>) {
        if ((one.shared || one.name == "memory") && one.name != own) continue;
      } else {
        if (one.first_byte_s) continue;
      }
      Configuration tried = have_;
      tried.*part = one;
      if (!enough(tried)) continue;
      have_ = tried;
      return one.name;
    }
    return have_.*part ? (have_.*part)->name : "";
  }

  std::uint64_t least_memory() {
    for (std::uint64_t bytes = kMemoryLeast; bytes < kMemoryPlenty; bytes *= 2) {
      Configuration tried = have_;
      tried.memory_bytes = bytes;
      if (resolve(facts_, tried).loader_bytes > static_cast<double>(bytes) / 2 || !enough(tried)) continue;
      have_ = tried;
      return bytes;
    }
    return kMemoryPlenty;
  }

  double least_cores() {
    int least = 1, most = static_cast<int>(std::ceil(*have_.cores));
    while (least < most) {
      const int middle = (least + most) / 2;
      Configuration tried = have_;
      tried.cores = middle;
      if (enough(tried)) {
        most = middle;
      } else {
        least = middle + 1;
      }
    }
    return most;
  }

  const Facts& facts_;
  const Catalogue& catalogue_;
  const int gpus_;
  const bool local_, over_network_;
  Configuration have_, chosen_;
  std::string layout_, cache_;
  double best_ = 0;
  bool reachable_ = true;
};

std::vector<GpuScaling> scaling_of(const Facts& facts, std::optional<int> Configuration::*part, bool per_node) {
  std::vector<GpuScaling> scaling;
  for (int count = 1; count <= kCountsMost; ++count) {
    Configuration change;
    change.*part = count;
    const Prediction prediction = predict(facts, change);
    GpuScaling point;
    point.gpus = count;
    point.samples_per_s = prediction.samples_per_s * (per_node ? count : 1);
    if (!scaling.empty()) point.efficiency = point.samples_per_s / count / scaling.front().samples_per_s;
    point.limiter = prediction.bottleneck().limiter;
    scaling.push_back(point);
  }
  return scaling;
}

InferenceSize inference_of(const Facts& facts) {
  InferenceSize size;
  const Configuration as_it_is;
  const Prediction prediction = predict(facts, as_it_is);
  const ResolvedRun run = resolve(facts, as_it_is);
  size.limiter = prediction.bottleneck().limiter;
  size.samples_per_s_most = prediction.samples_per_s;
  const double step = carried_by(prediction, Limiter::kStep);
  const double cpu = limit_of_cores(prediction).samples_per_s;
  if (step < kUnlimited && cpu < kUnlimited) size.vcpus_per_gpu = std::ceil(run.cores * step / cpu) / run.gpus;
  if (prediction.samples_per_s <= 0 || !std::isfinite(cpu)) return size;

  // Few are read at a time, so each takes what a read takes that waits for no other.
  const Configuration alone{.io_depth = 1};
  const Reading reading = reading_of(facts, alone, resolve(facts, alone), Epoch::kLater);
  Serving serving;
  serving.workers = std::max(1, static_cast<int>(std::min<double>(run.threads, std::ceil(run.cores))));
  const std::vector<double>& costs = facts.cpu.sample_s;
  const bool measured = costs.size() > 1 && std::is_sorted(costs.begin(), costs.end());
  serving.sample_s = (measured ? Quantiles(costs) : Quantiles({1.0})).scaled_to_mean(serving.workers / cpu);
  serving.read_share = reading.read_share;
  serving.read_s = reading.read_s;
  serving.gpus = run.gpus;
  serving.batch = run.batch;
  serving.step_s = run.step_s;
  for (const double load : kLoads) {
    serving.requests_per_s = load * size.samples_per_s_most;
    const ServingOutcome outcome = simulate(serving);
    size.loads.push_back({serving.requests_per_s, outcome.latency_s_p50, outcome.latency_s_p99});
  }
  return size;
}

// All samples once, with nothing cached and no GPU.
PreprocessingSize preprocessing_of(const Facts& facts) {
  Facts job = facts;
  job.step = {};
  job.step.batch = facts.step.batch;
  job.copy.device.clear();
  job.run.transfer_index = -1;
  job.run.cache = "none";
  job.run.direct = true;
  job.machine.memory_bytes = 0;  // for pages: loose files are never read past the page cache
  job.run.threads = 0;
  const Prediction prediction = predict(job);
  PreprocessingSize size;
  size.samples_per_s = prediction.samples_per_s;
  size.limiter = prediction.bottleneck().limiter;
  if (size.samples_per_s > 0) {
    size.hours = static_cast<double>(facts.data.samples) / size.samples_per_s / kSecondsPerHour;
  }
  const Limit cpu = limit_of_cores(prediction);
  double others = kUnlimited;
  for (const Limit& limit : prediction.limits) {
    if (limit.limiter != cpu.limiter) others = std::min(others, limit.samples_per_s);
  }
  if (others < kUnlimited && cpu.samples_per_s < kUnlimited) {
    size.vcpus_enough = std::ceil(facts.machine.cores * others / cpu.samples_per_s);
  }
  return size;
}

// Of all GPUs that train: those whose memory is not known are taken for the mean of the others.
double memory_of_gpus(const Facts& facts) {
  double bytes = 0;
  int known = 0;
  for (const GpuFacts& gpu : facts.machine.gpus) {
    bytes += static_cast<double>(gpu.memory_bytes);
    if (gpu.memory_bytes > 0) ++known;
  }
  return known > 0 ? bytes / known * std::max(1, facts.step.gpus) : 0;
}

Portions portions_of(const Facts& facts) {
  Portions portions;
  double decoded = 0;
  for (const StageFacts& stage : facts.cpu.stages) {
    if (stage.kind == "decode") decoded = stage.bytes_out * static_cast<double>(facts.data.samples);
  }
  const double gpu_memory = memory_of_gpus(facts);
  const auto memory = static_cast<double>(facts.machine.memory_bytes);
  if (memory > 0 && facts.data.bytes > 0) portions.memory_coded = cached_part(memory, facts.data.bytes);
  if (memory > 0 && decoded > 0) portions.memory_decoded = cached_part(memory, decoded);
  if (gpu_memory > 0 && facts.data.bytes > 0) portions.gpu_coded = cached_part(gpu_memory, facts.data.bytes);
  if (gpu_memory > 0 && decoded > 0) portions.gpu_decoded = cached_part(gpu_memory, decoded);
  return portions;
}

std::vector<MachineOffer> offers_of(const Facts& facts, const Catalogue& catalogue) {
  std::vector<MachineOffer> offers;
  const GpuClass* const own = own_gpu(facts, catalogue);
  for (const CloudMachine& machine : catalogue.machines) {
    if (machine.gpus == 0 || facts.step.seconds.count == 0) continue;
    Configuration change;
    change.cores = machine.vcpus;
    change.memory_bytes = machine.memory_bytes;
    change.gpus = machine.gpus;
    change.gpu = catalogue.gpu(machine.gpu);
    // Not knowing the GPU that was measured, a step takes as long on any.
    change.gpu->speed_against = own ? change.gpu->speed_against / own->speed_against : 1;
    if (!machine.disk.empty()) change.disk = catalogue.disk(machine.disk);
    if (!machine.network.empty()) change.network = catalogue.network(machine.network);
    MachineOffer offer{.machine = machine, .prediction = predict(facts, change)};
    offer.fed = offer.prediction.gpu_idle < kFedIdle;
    if (machine.price_per_hour) {
      offer.samples_per_price = offer.prediction.samples_per_s * kSecondsPerHour / *machine.price_per_hour;
    }
    offers.push_back(std::move(offer));
  }
  std::stable_sort(offers.begin(), offers.end(), [](const MachineOffer& a, const MachineOffer& b) {
    if (a.fed != b.fed) return a.fed;
    if (a.samples_per_price != b.samples_per_price) return a.samples_per_price > b.samples_per_price;
    return a.prediction.samples_per_s > b.prediction.samples_per_s;
  });
  return offers;
}

}  // namespace

TrainingSize training_size(const Facts& facts, const Catalogue& catalogue) {
  return TrainingSizer(facts, catalogue).size();
}

RightSize right_size(const Facts& facts, const Catalogue& catalogue) {
  RightSize size;
  size.training = training_size(facts, catalogue);
  size.scaling = scaling_of(facts, &Configuration::gpus, false);
  for (const GpuScaling& point : size.scaling) {
    if (!size.gpus_scale_below && point.efficiency < kScalesWell) size.gpus_scale_below = point.gpus;
  }
  size.node_scaling = scaling_of(facts, &Configuration::nodes, true);
  size.inference = inference_of(facts);
  size.preprocessing = preprocessing_of(facts);
  size.portions = portions_of(facts);
  size.offers = offers_of(facts, catalogue);
  return size;
}

}  // namespace stoker
