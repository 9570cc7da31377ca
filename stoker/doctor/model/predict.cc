#include "stoker/doctor/model/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/capacity/rates.h"
#include "stoker/doctor/model/reading.h"
#include "stoker/doctor/model/resolved_run.h"
#include "stoker/doctor/model/ring_simulation.h"
#include "stoker/doctor/model/scaling_curve.h"

namespace stoker {
namespace {

constexpr double kKernelsInStep = 0.5;  // of the device kernels' time: the rest passes beside the training's own
constexpr double kPredictionErrorLeast = 0.02;  // of a rate, however well its figures agree
constexpr double kGpuClassError = 0.2;          // of the catalogue's figures of GPUs
constexpr std::int64_t kReadAheadFar =
    4096;                               // samples of stores, about as many as a loader draws before they are needed
constexpr double kStepsUnknown = 1e-9;  // that nothing waits for
constexpr double kCopiesHandedOver =
    2;                                // of a batch that another machine makes: at either end, into and out of messages
constexpr double kSampleSigma = 0.5;  // of the samples' costs, as logarithms, where they were not measured
constexpr double kErrorSharpness = 16;  // with which limits near the least count into the error

struct KnownLimit {
  Limiter limiter;
  Carried carried;
};

class Predictor {
 public:
  Predictor(const Facts& facts, const Configuration& change)
      : facts_(facts), change_(change), run_(resolve(facts, change)), curve_(facts.cpu.scaling, facts.machine.cores) {}

  Prediction predict() {
    const std::vector<KnownLimit> later = limits(Epoch::kLater);
    prediction_.assumptions = run_.assumptions;
    for (const std::string& sentence : reading_.assumptions) prediction_.assumptions.push_back(sentence);
    if (!curve_.measured()) {
      prediction_.assumptions.emplace_back(
          "how the rate grows with threads was not measured; each core is taken for as "
          "good as the first");
    }
    if (remote_cores() > 0) {
      prediction_.assumptions.emplace_back(
          "other machines' cores are taken for as good as this one's, and for as near to the data");
    }
    for (const KnownLimit& limit : later) prediction_.limits.push_back({limit.limiter, limit.carried.samples_per_s});
    std::stable_sort(prediction_.limits.begin(), prediction_.limits.end(),
                     [](const Limit& a, const Limit& b) { return a.samples_per_s < b.samples_per_s; });
    prediction_.error = error_of(later);
    prediction_.miss_share = facts_.store ? run_.later.store : run_.later.disk;
    prediction_.samples_per_s_needed = run_.needed_per_s();
    const double rate = simulate_ring(later);
    prediction_.samples_per_s = rate;
    if (prediction_.limits.empty()) prediction_.limits.push_back({Limiter::kStep, rate});  // no figures: nothing limits
    const double least_later = least(later), least_first = least(limits(Epoch::kFirst));
    prediction_.first_epoch_samples_per_s = std::min(rate, rate * least_first / least_later);
    return std::move(prediction_);
  }

 private:
  // Ones that are not known are left out.
  std::vector<KnownLimit> limits(Epoch epoch) {
    std::vector<KnownLimit> limits;
    const auto add = [&](Limiter limiter, const Carried& carried) {
      if (carried.samples_per_s < kUnlimited) limits.push_back({limiter, carried});
    };
    add(cpu_limiter(), cpu(epoch));
    reading_ = reading_of(facts_, change_, run_, epoch);
    add(Limiter::kStorageBandwidth, reading_.bandwidth);
    add(Limiter::kStorageRequests, reading_.requests);
    add(Limiter::kNetwork, reading_.network);
    add(Limiter::kNetwork, handing_over(epoch));
    add(Limiter::kCopy, copy());
    add(Limiter::kMemory, memory());
    add(Limiter::kStep, step());
    return limits;
  }

  Limiter cpu_limiter() const {
    const double decode_s = run_.decode_s * (run_.keeps_decoded ? 1 - run_.later.kept : 1);
    return 2 * decode_s >= cpu_s(Epoch::kLater) ? Limiter::kCpuDecode : Limiter::kCpuTransform;
  }

  double cpu_s(Epoch epoch) const {
    const SampleSources& sources = run_.sources(epoch);
    return run_.cpu_s - (run_.keeps_decoded ? sources.kept * run_.decode_s : 0) + sources.store * fetch_cpu_s();
  }

  // What a sample from the store costs the cores.
  double fetch_cpu_s() const {
    if (!facts_.store) return 0;
    return run_.requests * facts_.store->cpu_s_per_request.median + run_.bytes * facts_.store->cpu_s_per_byte.median;
  }

  Carried cpu(Epoch epoch) const {
    Carried own = own_cpu(epoch);
    if (remote_cores() <= 0) return own;
    // What receives batches makes none meanwhile.
    const double remote = remote_per_s(epoch);
    own.samples_per_s *= std::max(0.0, 1 - remote * handed_over_s() / run_.cores);
    return {own.samples_per_s + remote, own.error};
  }

  Carried own_cpu(Epoch epoch) const {
    const ScalingCurve::Worth worth = curve_.worth(run_.threads, run_.cores);
    return {whole_loaders() * rate_of_workers(worth.cores, cpu_s(epoch)), worth.error};
  }

  // A whole loader on one core, against the sum of its parts.
  double whole_loaders() const {
    const double whole = curve_.core_per_s().value_or(0) * facts_.cpu.total_s();
    return whole > 0 ? whole : 1;
  }

  double remote_cores() const { return change_.remote_cores.value_or(0); }

  // Each core of other machines is as good as one of this.
  double remote_per_s(Epoch epoch) const {
    const double sample_s = cpu_s(epoch) / whole_loaders() + handed_over_s();
    const double made = rate_of_workers(remote_cores(), sample_s);
    return handed_over_s() > 0 ? std::min(made, run_.cores / handed_over_s()) : made;
  }

  // Of a core at either end.
  double handed_over_s() const {
    const MemoryFacts& memory = facts_.memory;
    if (!memory.copy_bytes_per_s.known() || memory.cores <= 0) return 0;
    return kCopiesHandedOver * output_bytes() * memory.cores / memory.copy_bytes_per_s.median;
  }

  double output_bytes() const { return facts_.cpu.stages.empty() ? 0 : facts_.cpu.stages.back().bytes_out; }

  // Batches of other machines come through the network.
  Carried handing_over(Epoch epoch) const {
    const std::optional<double> network =
        change_.network ? std::optional(change_.network->bytes_per_s) : facts_.machine.network_bytes_per_s;
    if (remote_cores() <= 0 || !network || output_bytes() <= 0) return {};
    return {own_cpu(epoch).samples_per_s + rate_of_bytes(*network, output_bytes()), 0};
  }

  Carried copy() const {
    const CopyFacts& copy = facts_.copy;
    const auto index = static_cast<std::size_t>(std::max(0, run_.transfer_index));
    if (run_.transfer_index < 0 || index >= copy.bytes_per_sample.size() || !copy.pinned_bytes_per_s.known()) return {};
    double each = copy.pinned_bytes_per_s.median;
    double error = copy.pinned_bytes_per_s.spread();
    if (run_.gpus > 1 && copy.together > 1 && copy.together_bytes_per_s.known()) {
      // Beside each other they share the way to the memory; no more than was seen of all.
      const double all = copy.together_bytes_per_s.median;
      each = std::min(each, run_.gpus >= copy.together ? all / copy.together : all / run_.gpus);
      error = copy.together_bytes_per_s.spread();
    }
    return {run_.gpus * rate_of_bytes(each, copy.bytes_per_sample[index]), error};
  }

  Carried memory() const {
    const MemoryFacts& memory = facts_.memory;
    if (!memory.copy_bytes_per_s.known()) return {};
    // Machines have memory in proportion to their cores, and so have a cloud's parts of them.
    const double more = memory.cores > 0 ? std::max(1.0, run_.cores / memory.cores) : 1;
    return {rate_of_bytes(more * memory.copy_bytes_per_s.median, memory.copied_bytes),
            memory.copy_bytes_per_s.spread()};
  }

  // With the kernels that the loader runs on the same GPU.
  double busy_s() const { return run_.step_s + kKernelsInStep * run_.batch * run_.kernels_s; }

  Carried step() const {
    if (run_.step_s <= 0) return {};
    const double spread = change_.step_s ? 0 : facts_.step.seconds.spread();
    return {run_.gpus * rate_of_steps(run_.batch, busy_s()), std::hypot(spread, change_.gpu ? kGpuClassError : 0)};
  }

  static double least(const std::vector<KnownLimit>& limits) {
    std::vector<double> rates{kUnlimited};
    for (const KnownLimit& limit : limits) rates.push_back(limit.carried.samples_per_s);
    return throughput_of(rates);
  }

  // Each limit counts as far as it moves the whole.
  static double error_of(const std::vector<KnownLimit>& limits) {
    double least = kUnlimited;
    for (const KnownLimit& limit : limits) least = std::min(least, limit.carried.samples_per_s);
    double weights = 0, squares = 0;
    for (const KnownLimit& limit : limits) {
      const double weight = std::pow(least / limit.carried.samples_per_s, kErrorSharpness);
      weights += weight;
      squares += std::pow(weight * limit.carried.error, 2);
    }
    return weights > 0 ? std::hypot(kPredictionErrorLeast, std::sqrt(squares) / weights) : kPredictionErrorLeast;
  }

  Quantiles sample_quantiles() const {
    const std::vector<double>& measured = facts_.cpu.sample_s;
    if (measured.size() > 1 && std::is_sorted(measured.begin(), measured.end()) && measured.back() > 0) {
      return Quantiles(measured);
    }
    return Quantiles::log_normal(1, kSampleSigma);
  }

  double simulate_ring(const std::vector<KnownLimit>& limits) {
    reading_ = reading_of(facts_, change_, run_, Epoch::kLater);
    Ring ring;
    ring.gpus = run_.gpus;
    ring.batch = run_.batch;
    ring.step_s = run_.step_s > 0 ? busy_s() : kStepsUnknown;
    ring.prefetch = run_.prefetch;
    const double all = std::min<double>(run_.threads, std::ceil(run_.cores)) + remote_cores();
    // Others have no sample of the batches that are made, and slow none of those that have one.
    const double at_work = std::min(all, static_cast<double>(run_.gpus) * run_.prefetch * run_.batch);
    ring.workers = std::max(1, static_cast<int>(std::lround(at_work / run_.gpus)));
    // Workers are as slow as all of them together: their cores, or their memory.
    double crew = kUnlimited;
    for (const KnownLimit& limit : limits) {
      const bool of_cores = limit.limiter == Limiter::kCpuDecode || limit.limiter == Limiter::kCpuTransform;
      if (of_cores) crew = std::min(crew, at_work < all ? crew_of(at_work) : limit.carried.samples_per_s);
      if (limit.limiter == Limiter::kMemory) crew = std::min(crew, limit.carried.samples_per_s);
      if (limit.limiter == Limiter::kCopy) ring.copy_s = run_.gpus * run_.batch / limit.carried.samples_per_s;
    }
    ring.sample_s = sample_quantiles().scaled_to_mean(ring.workers * ring.gpus / crew);
    ring.read_depth = std::max(1, static_cast<int>(std::lround(1.0 * reading_.depth / run_.gpus)));
    ring.read_ahead = facts_.store ? kReadAheadFar : 0;
    ring.read_share = reading_.read_share;
    ring.read_s = reading_.read_s;
    ring.reads_per_s = reading_.reads_per_s;
    const RingOutcome outcome = simulate(ring);
    const double rate = std::min(outcome.samples_per_s, least_of(limits));
    prediction_.wait_s_p50 = outcome.wait_s_p50;
    prediction_.wait_s_p95 = outcome.wait_s_p95;
    if (run_.step_s > 0) prediction_.gpu_idle = std::clamp(1 - rate / run_.needed_per_s(), 0.0, 1.0);
    return rate;
  }

  // Samples a second of so many of the workers, on all the cores that there are.
  double crew_of(double workers) const {
    const double remote = std::min(remote_cores(), workers);
    const ScalingCurve::Worth own = curve_.worth(workers - remote, run_.cores);
    double made = remote > 0 ? rate_of_workers(remote, cpu_s(Epoch::kLater) / whole_loaders() + handed_over_s()) : 0;
    if (workers > remote) made += whole_loaders() * rate_of_workers(own.cores, cpu_s(Epoch::kLater));
    return made;
  }

  static double least_of(const std::vector<KnownLimit>& limits) {
    double least = kUnlimited;
    for (const KnownLimit& limit : limits) least = std::min(least, limit.carried.samples_per_s);
    return least;
  }

  const Facts& facts_;
  const Configuration& change_;
  const ResolvedRun run_;
  const ScalingCurve curve_;
  Reading reading_;
  Prediction prediction_;
};

}  // namespace

Prediction predict(const Facts& facts, const Configuration& change) { return Predictor(facts, change).predict(); }

}  // namespace stoker
