// What the random plants of seeds 1 to 300 are like: no rule of thumb must do on them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <vector>

#include "stoker/tuner/plant/plant_testing.h"

namespace stoker {
namespace {

constexpr int kPlants = 300;

const std::vector<Plant>& plants() {
  static const std::vector<Plant> all = [] {
    std::vector<Plant> made;
    for (int seed = 1; seed <= kPlants; ++seed) made.push_back(Plant::random(static_cast<std::uint64_t>(seed)));
    return made;
  }();
  return all;
}

// Throughput by threads and index, the other knobs at their best, or 0 where memory does not allow it.
class Surface {
 public:
  explicit Surface(const Plant& plant) : plant_(plant) {}

  double at(int threads, int index) const {
    KnobSetting knobs = plant_.best().setting;
    knobs.threads = threads;
    knobs.transfer_index = index;
    return plant_.allowed(knobs) ? plant_.throughput(knobs) : 0;
  }
  double best_index(int threads) const {
    double most = 0;
    for (const int index : plant_.indices()) most = std::max(most, at(threads, index));
    return most;
  }
  double best_threads(int index) const {
    double most = 0;
    for (int threads = 1; threads <= threads_max(plant_.workload().cores); ++threads) {
      most = std::max(most, at(threads, index));
    }
    return most;
  }

  // Whether there is a point from which neither any other number of threads nor any other index alone is more than 1%
  // faster, while both together are 3% faster.
  bool has_ridge() const {
    std::map<int, double> by_index;
    for (const int index : plant_.indices()) by_index[index] = best_threads(index);
    for (int threads = 1; threads <= threads_max(plant_.workload().cores); ++threads) {
      const double by_threads = best_index(threads);
      for (const int index : plant_.indices()) {
        const double here = at(threads, index);
        if (here > 0 && here >= 0.99 * by_threads && here >= 0.99 * by_index[index] &&
            here < 0.97 * plant_.best().throughput) {
          return true;
        }
      }
    }
    return false;
  }

 private:
  const Plant& plant_;
};

// In how many plants the best of the settings that a rule admits is within 3% of the best.
int won_by(const std::function<bool(const Plant&, const KnobSetting&)>& rule) {
  int won = 0;
  for (const Plant& plant : plants()) {
    double most = 0;
    for (int threads = 1; threads <= threads_max(plant.workload().cores); ++threads) {
      for (const int index : plant.indices()) {
        for (const int prefetch : plant.prefetches()) {
          for (const int depth : plant.io_depths()) {
            const KnobSetting knobs{threads, index, prefetch, depth};
            if (rule(plant, knobs) && plant.allowed(knobs)) most = std::max(most, plant.throughput(knobs));
          }
        }
      }
    }
    won += most >= 0.97 * plant.best().throughput;
  }
  return won;
}

TEST(PlantMix, HasEachLimitAtTheBestPointOfMany) {
  std::map<std::string_view, int> limits;
  for (const Plant& plant : plants()) ++limits[name_of(plant.rates(plant.best().setting).limit)];
  for (const auto& [name, count] : limits) {
    std::cout << fmt::format("limited by the {}: {} of {}\n", name, count, kPlants);
    EXPECT_GE(count, 0.08 * kPlants) << name;
  }
  EXPECT_EQ(limits.size(), 5u);
}

TEST(PlantMix, HasEveryIndexBestInMany) {
  std::map<int, int> indices;
  std::array<int, 3> places{};  // first possible, between, last
  for (const Plant& plant : plants()) {
    const int best = plant.best().setting.transfer_index;
    ++indices[best];
    ++places[best == plant.indices().back() ? 2 : best == plant.indices().front() ? 0 : 1];
  }
  for (const auto& [index, count] : indices)
    std::cout << fmt::format("index {} best: {} of {}\n", index, count, kPlants);
  std::cout << fmt::format("the first possible index best: {}, one between: {}, the last: {}\n", places[0], places[1],
                           places[2]);
  for (const int count : places) EXPECT_GE(count, 0.15 * kPlants);
  for (const int index : {0, 1, 2, 3}) EXPECT_GE(indices[index], 0.08 * kPlants) << index;
}

TEST(PlantMix, HasCheapestPointsFromOneThreadToMany) {
  std::vector<int> threads;
  for (const Plant& plant : plants()) threads.push_back(plant.best().cheapest.threads);
  std::ranges::sort(threads);
  const auto at = [&](double share) { return threads[static_cast<std::size_t>(share * kPlants)]; };
  std::cout << fmt::format(
      "threads of the cheapest point: median {}, a quarter has {} or more, a tenth {}, the most {}\n", at(0.5),
      at(0.75), at(0.9), threads.back());
  EXPECT_GE(at(0.5), 3);
  EXPECT_GE(at(0.9), 12);
}

TEST(PlantMix, HasRidgesWhereThreadsAndIndexMoveTogether) {
  const auto has_ridge = [](const Plant& plant) { return Surface(plant).has_ridge(); };
  const auto ridges = std::ranges::count_if(plants(), has_ridge);
  std::cout << fmt::format("ridges: {} of {}\n", ridges, kPlants);
  EXPECT_GE(ridges, 0.15 * kPlants);
}

TEST(PlantMix, IsNotWonByARuleOfThumb) {
  const auto rule = [](const char* name, double most, const auto& admits) {
    const int won = won_by(admits);
    std::cout << fmt::format("within 3% of the best with {}: {} of {}\n", name, won, kPlants);
    EXPECT_LE(won, most * kPlants) << name;
  };
  rule("one thread", 0.5, [](const Plant&, const KnobSetting& knobs) { return knobs.threads == 1; });
  rule("all threads", 0.95, [](const Plant& plant, const KnobSetting& knobs) {
    return knobs.threads == threads_max(plant.workload().cores);
  });
  rule("the first possible index", 0.8,
       [](const Plant& plant, const KnobSetting& knobs) { return knobs.transfer_index == plant.indices().front(); });
  rule("the last index", 0.8,
       [](const Plant& plant, const KnobSetting& knobs) { return knobs.transfer_index == plant.indices().back(); });
  rule("no more than one batch ahead", 0.8, [](const Plant&, const KnobSetting& knobs) { return knobs.prefetch == 1; });
  rule("as many batches ahead as may be", 0.95,
       [](const Plant& plant, const KnobSetting& knobs) { return knobs.prefetch == plant.workload().prefetch_max; });
  rule("one read at a time", 0.8, [](const Plant&, const KnobSetting& knobs) { return knobs.io_depth == 1; });
  rule("as many reads as may be", 0.98,
       [](const Plant& plant, const KnobSetting& knobs) { return knobs.io_depth == plant.workload().io_depth_max; });
}

TEST(PlantMix, KeepsToMachinesThatThereAre) {
  for (const Plant& plant : plants()) {
    const PlantParts& parts = plant.parts();
    const auto in = [&](double value, double low, double high, const char* what) {
      EXPECT_TRUE(value >= low && value <= high) << what << " is " << value << ": " << plant.describe();
    };
    double cpu_s = 0;
    for (const PlantStage& stage : parts.stages) cpu_s += stage.cpu_s;
    in(cpu_s, 5e-6 * 0.999, 20e-3 * 1.001, "the recipe's time");
    in(static_cast<double>(parts.stages.size()), 1, 6, "the number of stages");
    in(parts.machine.cores, 1, 64, "the number of cores");
    in(parts.batch, 32, 1024, "the batch");
    in(parts.prefetch_max, 1, 16, "the prefetch");
    in(parts.io_depth_max, 1, 128, "the depth");
    in(parts.machine.copy_bytes_per_s, 1e9, 60e9, "the copy");
    in(parts.store.latency_s, 5e-6, 0.2, "the store's latency");
    in(parts.trainer.step_s, 0.5e-3, 10, "the step");
    in(parts.measuring.noise, 0.003, 0.04, "the noise");
  }
}

}  // namespace
}  // namespace stoker
