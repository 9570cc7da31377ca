#include "stoker/doctor/model/ring_simulation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "stoker/base/random.h"

namespace stoker {
namespace {

constexpr double kDraws = 30'000;  // about as many in all
constexpr std::int64_t kStepsLeast = 60, kStepsMost = 20'000;
constexpr int kGrainsEach = 8;  // of a batch, for each worker

// Places that take one thing at a time: the one that is free first takes the next.
class Places {
 public:
  explicit Places(int count) : free_at_(static_cast<std::size_t>(count), 0.0) {}

  double first_free() const { return free_at_.front(); }
  void take_first_until(double time) {
    std::pop_heap(free_at_.begin(), free_at_.end(), std::greater<>());
    free_at_.back() = time;
    std::push_heap(free_at_.begin(), free_at_.end(), std::greater<>());
  }

 private:
  std::vector<double> free_at_;  // a heap, the first on top
};

// Samples that are drawn as one.
class Grains {
 public:
  Grains(const Ring& ring, std::uint64_t seed)
      : samples_(std::max(1, ring.batch / (kGrainsEach * ring.workers))),
        count_((ring.batch + samples_ - 1) / samples_),
        samples_each_(static_cast<double>(ring.batch) / count_),
        random_(seed, 0, 0, 0) {}

  int count() const { return count_; }              // of a batch
  double samples() const { return samples_each_; }  // of a grain, on average

  /// What the grain's samples take one after another.
  double draw_sum(const Quantiles& quantiles) {
    const double mean = quantiles.mean();
    const double sum = samples_each_ * mean + std::sqrt(samples_each_) * (quantiles.at(random_.uniform()) - mean);
    return std::max(sum, samples_each_ * quantiles.least());
  }
  /// What they take side by side, on average.
  double draw_mean(const Quantiles& quantiles) { return draw_sum(quantiles) / samples_each_; }
  bool draw_whether(double share) { return share >= 1 || (share > 0 && random_.uniform() < share); }

 private:
  int samples_, count_;
  double samples_each_;
  Random random_;
};

struct OneRing {
  OneRing(const Ring& ring, const Grains& grains) : readers(readers_of(ring, grains)), workers(ring.workers) {}

  static int readers_of(const Ring& ring, const Grains& grains) {
    return std::max(1, static_cast<int>(std::lround(ring.read_depth / grains.samples())));
  }

  Places readers, workers;
  double device_free = 0;  // of its share of what reads
  double copied_at = 0;
};

class Simulation {
 public:
  Simulation(const Ring& ring, std::uint64_t seed) : ring_(ring), grains_(ring, seed) {
    for (int i = 0; i < ring.gpus; ++i) rings_.emplace_back(ring, grains_);
    // So that with all grains that are read at a time there are as many reads under way as the ring has.
    read_rounds_ = OneRing::readers_of(ring, grains_) * grains_.samples() / ring.read_depth;
    read_ahead_ = ring.prefetch + std::max<std::int64_t>(1, ring.read_ahead / ring.batch);
    done_.resize(static_cast<std::size_t>(grains_.count()));
  }

  RingOutcome run() {
    const std::int64_t steps =
        std::clamp(static_cast<std::int64_t>(kDraws / grains_.count() / ring_.gpus), kStepsLeast, kStepsMost);
    const std::int64_t warm_up = steps / 5 + 2 * std::min<std::int64_t>(read_ahead_, steps);
    std::vector<double> waits;
    double now = 0, begin = 0;  // the end of the last step, and of the warm-up
    for (std::int64_t step = 0; step < warm_up + steps; ++step) {
      if (step == warm_up) begin = now;
      double ready = 0;
      for (OneRing& one : rings_) ready = std::max(ready, make_batch(one, step));
      const double start = std::max(now, ready);
      if (step >= warm_up) waits.push_back(start - now);
      starts_.push_back(start);
      now = start + ring_.step_s;
    }
    std::sort(waits.begin(), waits.end());
    const double seconds = now - begin;
    RingOutcome outcome;
    outcome.samples_per_s = static_cast<double>(steps) * ring_.batch * ring_.gpus / seconds;
    outcome.idle = std::max(0.0, 1 - static_cast<double>(steps) * ring_.step_s / seconds);
    outcome.wait_s_p50 = waits[waits.size() / 2];
    outcome.wait_s_p95 = waits[waits.size() * 95 / 100];
    return outcome;
  }

 private:
  /// When the step began that makes room for this one; 0 for the first.
  double start_of(std::int64_t step) const { return step < 0 ? 0 : starts_[static_cast<std::size_t>(step)]; }

  /// When the batch has arrived on its GPU.
  double make_batch(OneRing& one, std::int64_t step) {
    const double room = start_of(step - ring_.prefetch), room_to_read = start_of(step - read_ahead_);
    for (double& done : done_) done = read_grain(one, room_to_read);
    std::sort(done_.begin(), done_.end());  // workers take what is there
    double ready = 0;
    for (const double done : done_) {
      const double end = std::max({one.workers.first_free(), done, room}) + grains_.draw_sum(ring_.sample_s);
      one.workers.take_first_until(end);
      ready = std::max(ready, end);
    }
    one.copied_at = std::max(ready, one.copied_at) + ring_.copy_s;
    return one.copied_at;
  }

  double read_grain(OneRing& one, double not_before) {
    if (!grains_.draw_whether(ring_.read_share)) return not_before;
    const double issued = std::max(one.readers.first_free(), not_before);
    one.device_free = std::max(one.device_free, issued) + grains_.samples() * ring_.gpus / ring_.reads_per_s;
    const double done = std::max(issued + read_rounds_ * grains_.draw_mean(ring_.read_s), one.device_free);
    one.readers.take_first_until(done);
    return done;
  }

  const Ring& ring_;
  Grains grains_;
  std::vector<OneRing> rings_;
  std::vector<double> starts_;  // of steps
  std::vector<double> done_;    // reads of a batch
  double read_rounds_ = 1;
  std::int64_t read_ahead_ = 1;
};

}  // namespace

RingOutcome simulate(const Ring& ring, std::uint64_t seed) {
  assert(ring.gpus > 0 && ring.batch > 0 && ring.prefetch > 0 && ring.workers > 0 && ring.read_depth > 0);
  return Simulation(ring, seed).run();
}

}  // namespace stoker
