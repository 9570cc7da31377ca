#include "stoker/doctor/verdict/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "stoker/base/units.h"
#include "stoker/doctor/model/predict.h"
#include "stoker/doctor/model/resolved_run.h"
#include "stoker/doctor/verdict/memory_text.h"
#include "stoker/doctor/verdict/what_if.h"
#include "stoker/runtime/loader_options.h"

namespace stoker {
namespace {

constexpr double kWorthIt = 0.03;      // a gain below that is none
constexpr double kWorthItFirst = 0.1;  // the same, of the first epoch
constexpr double kAsGood = 0.98;       // of the best of several: then the least of them will do
constexpr double kAlike = 0.03;        // by which gains, as logarithms, must differ to count as different
constexpr double kStillFull = 0.98;    // of the rate now, with less of something
constexpr double kStillFirst = 0.9;    // the same, of the first epoch's
constexpr double kMuchLess = 0.75;     // of what there is: an excess above that is not worth a word
constexpr double kMoreCoresMost = 8;   // times as many
constexpr double kHeavyStage = 0.15;   // of a core's time
constexpr std::uint64_t kMemoryUnit = 1ull << 30, kMemoryMost = 4096 * kMemoryUnit;

/// A way to change one thing, from the least to the most of it.
struct Way {
  std::string nothing;  // what to say if it gives nothing
  struct Step {
    std::string sentence;
    Configuration change;
  };
  std::vector<Step> steps{};
};

class Advisor {
 public:
  Advisor(const Facts& facts, const Prediction& now, const Catalogue& catalogue, const TrainingSize& needed)
      : facts_(facts), now_(now), catalogue_(catalogue), needed_(needed) {}

  Changes weigh() {
    for (const Way& way : ways()) weigh_way(way);
    // Of those that give about the same, the ones that cost nothing, and those that also help the first epoch.
    const auto by_gain = [](const Change& a, const Change& b) {
      const auto rank = [](const Change& change) {
        const double gain = std::floor(std::log1p(change.gain) / kAlike);
        return std::tuple(-gain, change.buys, -change.prediction.first_epoch_samples_per_s);
      };
      return rank(a) < rank(b);
    };
    std::stable_sort(changes_.helpful.begin(), changes_.helpful.end(), by_gain);
    add_pair();
    std::stable_sort(changes_.helpful.begin(), changes_.helpful.end(), by_gain);
    add_excess();
    return std::move(changes_);
  }

 private:
  bool local() const { return facts_.storage.has_value() && !facts_.store; }
  bool over_network() const { return facts_.store || (facts_.storage && facts_.storage->over_network); }
  bool starved() const { return now_.bottleneck().limiter != Limiter::kStep; }

  std::vector<Way> ways() const {
    std::vector<Way> ways = {threads(),  cores(),    disks(),          memory(), layout(),  caches(), networks(),
                             io_depth(), prefetch(), transfer_index(), order(),  lighter(), gpu(),    remote()};
    std::erase_if(ways, [](const Way& way) { return way.steps.empty(); });
    return ways;
  }

  Way threads() const {
    Way way{"more threads give nothing"};
    const int loaders = std::max(1, facts_.step.gpus);
    const int all = static_cast<int>(facts_.machine.cores) / loaders;
    if (facts_.run.threads <= 0 || facts_.run.threads >= all) return way;
    Configuration change;
    change.threads = all;
    way.steps.push_back({fmt::format("use {} threads instead of {}", all, facts_.run.threads), change});
    return way;
  }

  Way cores() const {
    Way way{"more cores give nothing"};
    const double now = facts_.machine.cores;
    for (const double times : {1.25, 1.5, 2.0, 3.0, 4.0, 6.0, kMoreCoresMost}) {
      const double cores = std::ceil(now * times);
      if (!way.steps.empty() && way.steps.back().change.cores == cores) continue;
      Configuration change;
      change.cores = cores;
      way.steps.push_back({fmt::format("use {} cores instead of {}", cores, now), change});
    }
    return way;
  }

  // Of interest only where its own do not do.
  Way remote() const {
    Way way{"cores of other machines give nothing"};
    if (now_.bottleneck().limiter != Limiter::kCpuDecode && now_.bottleneck().limiter != Limiter::kCpuTransform)
      return way;
    const double bytes = facts_.cpu.stages.empty() ? 0 : facts_.cpu.stages.back().bytes_out;
    for (const double times : {0.5, 1.0, 2.0, 4.0, kMoreCoresMost}) {
      Configuration change;
      change.remote_cores = std::ceil(facts_.machine.cores * times);
      const Prediction prediction = predict(facts_, change);
      const double received = std::max(0.0, prediction.samples_per_s - now_.samples_per_s);
      way.steps.push_back(
          {fmt::format("have other machines make batches, on {}: `stoker.ray.Loader`; {}/s come through the network",
                       counted(static_cast<std::int64_t>(*change.remote_cores), "core"), format_size(received * bytes)),
           change});
    }
    return way;
  }

  Way disks() const {
    Way way{"a faster disk gives nothing"};
    if (!local()) return way;
    for (const DiskClass& disk : catalogue_.disks) {
      if (disk.shared || disk.name == "memory" || disk.name == facts_.storage->device_class) continue;
      if (disk.bytes_per_s <= 1.2 * own_disk_bytes_per_s()) continue;
      Configuration change;
      change.disk = disk;
      way.steps.push_back(
          {fmt::format("put the data on a disk of the kind {}: {}/s, {} reads/s", disk.name,
                       format_size(disk.bytes_per_s), format_count(static_cast<std::uint64_t>(disk.reads_per_s))),
           change});
    }
    return way;
  }
  double own_disk_bytes_per_s() const {
    double most = facts_.storage->cold_bytes_per_s.median;
    for (const ReadFacts& reads : facts_.storage->cold) {
      most = std::max(most, reads.reads_per_s.median * static_cast<double>(reads.bytes));
    }
    return most;
  }

  Way memory() const {
    Way way{"more memory gives nothing"};
    const std::uint64_t now = facts_.machine.memory_bytes;
    if (now == 0) return way;
    for (std::uint64_t bytes = std::bit_ceil(now + 1); bytes <= kMemoryMost; bytes *= 2) {
      Configuration change;
      change.memory_bytes = bytes;
      way.steps.push_back(
          {fmt::format("use {} of memory instead of {}", memory_text(bytes), memory_text(now)), change});
      if (static_cast<double>(bytes) > 2.5 * facts_.data.bytes) break;
    }
    return way;
  }

  Way layout() const {
    Way way{"packing the files into shards gives nothing"};
    if (facts_.data.layout != "loose") return way;
    Configuration change;
    change.layout = "packed";
    way.steps.push_back({"pack the files into shards: `stoker pack`", change});
    if (!facts_.run.may_window) return way;
    change.order = "windowed";
    way.steps.push_back(
        {"pack the files into shards, and shuffle by windows, which reads larger pieces: `stoker pack`, then "
         "`--order windowed`",
         change});
    return way;
  }

  Way caches() const {
    Way way{"a cache gives nothing"};
    if (facts_.run.cache != "none" && !facts_.run.cache.empty()) return way;
    Configuration change;
    change.cache = "ram";
    way.steps.push_back({"keep samples in memory: `--cache ram`", change});
    if (facts_.store) {
      change.cache = "disk";
      way.steps.push_back({"keep what was read from the store on a local disk: `--cache disk=DIR:SIZE`", change});
      for (const DiskClass& disk : catalogue_.disks) {
        if (disk.name != "nvme") continue;
        change.disk = disk;
        way.steps.push_back(
            {"keep what was read from the store on a local NVMe disk: `--cache disk=DIR:SIZE`", change});
      }
    }
    return way;
  }

  Way networks() const {
    Way way{"a faster network gives nothing"};
    if (!over_network()) return way;
    const double now = facts_.machine.network_bytes_per_s.value_or(0);
    for (const NetworkClass& network : catalogue_.networks) {
      if (network.bytes_per_s <= 1.2 * now || network.first_byte_s) continue;
      Configuration change;
      change.network = network;
      way.steps.push_back({fmt::format("use a network of {:g} Gbit/s", network.bytes_per_s * 8e-9), change});
    }
    return way;
  }

  Way io_depth() const {
    Way way{"more reads at a time give nothing"};
    if (facts_.run.io_depth <= 0) return way;
    for (const int times : {2, 4, 8}) {
      Configuration change;
      if (facts_.run.io_depth > kIoDepthMax / times) break;  // no loader takes more
      change.io_depth = times * facts_.run.io_depth;
      way.steps.push_back({fmt::format("allow {} reads at a time instead of {}: `--io-depth {}`", *change.io_depth,
                                       facts_.run.io_depth, *change.io_depth),
                           change});
    }
    return way;
  }

  Way prefetch() const {
    Way way{"more batches ahead give nothing"};
    if (facts_.run.prefetch <= 0) return way;
    for (const int times : {2, 4}) {
      Configuration change;
      change.prefetch = times * facts_.run.prefetch;
      way.steps.push_back({fmt::format("make {} batches ahead instead of {}: `--prefetch {}`", *change.prefetch,
                                       facts_.run.prefetch, *change.prefetch),
                           change});
    }
    return way;
  }

  Way transfer_index() const {
    Way way{"another transfer index gives nothing"};
    const CopyFacts& copy = facts_.copy;
    if (copy.device.empty() || facts_.run.transfer_index < 0) return way;
    for (int index = 0; index < static_cast<int>(copy.bytes_per_sample.size()); ++index) {
      const auto i = static_cast<std::size_t>(index);
      if (index == facts_.run.transfer_index || i >= copy.device_s.size() || !copy.device_s[i]) continue;
      Configuration change;
      change.transfer_index = index;
      way.steps.push_back({fmt::format("hand over to the GPU at transfer index {} instead of {}: `--transfer-index {}`",
                                       index, facts_.run.transfer_index, index),
                           change});
    }
    return way;
  }

  Way order() const {
    Way way{"another order gives nothing"};
    if (facts_.run.order != "global" || !facts_.run.may_window || facts_.data.layout == "loose") return way;
    Configuration change;
    change.order = "windowed";
    way.steps.push_back({"shuffle by windows, which reads larger pieces: `--order windowed`", change});
    return way;
  }

  Way lighter() const {
    Way way{"a lighter recipe gives nothing"};
    const double total_s = facts_.cpu.total_s();
    const StageFacts* heaviest = nullptr;
    for (const StageFacts& stage : facts_.cpu.stages) {
      if (stage.kind == "decode" || stage.cpu_s < kHeavyStage * total_s) continue;
      if (!heaviest || stage.cpu_s > heaviest->cpu_s) heaviest = &stage;
    }
    if (!heaviest) return way;
    Configuration change;
    change.without = heaviest->name;
    way.steps.push_back(
        {fmt::format("make the recipe's stage {} lighter: it takes {:.0f}% of a core's time for a sample, "
                     "and this is the gain without it",
                     heaviest->name, 100 * heaviest->cpu_s / total_s),
         change});
    return way;
  }

  // Of interest only where the one there is waits.
  Way gpu() const {
    Way way{"a faster GPU gives nothing"};
    const GpuClass* own = own_gpu(facts_, catalogue_);
    if (!own || !starved()) return way;
    const GpuClass& fastest = catalogue_.gpus.back();
    if (fastest.speed_against <= own->speed_against) return way;
    Configuration change;
    change.gpu = fastest;
    change.gpu->speed_against = fastest.speed_against / own->speed_against;
    way.steps.push_back({fmt::format("use a GPU of the kind {}", fastest.name), change});
    return way;
  }

  Change weighed(std::string sentence, const Configuration& change) const {
    Change weighed;
    weighed.sentence = std::move(sentence);
    weighed.what_if = what_if_text(change);
    weighed.buys =
        change.cores || change.remote_cores || change.memory_bytes || change.disk || change.network || change.gpu;
    weighed.prediction = predict(facts_, change);
    if (now_.samples_per_s > 0) weighed.gain = weighed.prediction.samples_per_s / now_.samples_per_s - 1;
    if (now_.first_epoch_samples_per_s > 0) {
      weighed.first_epoch_gain = weighed.prediction.first_epoch_samples_per_s / now_.first_epoch_samples_per_s - 1;
    }
    weighed.error = (1 + weighed.gain) * std::hypot(now_.error, weighed.prediction.error);
    return weighed;
  }

  // The least step that is about as good as the best.
  void weigh_way(const Way& way) {
    std::vector<Change> steps;
    double best = 0;
    for (const Way::Step& step : way.steps) {
      steps.push_back(weighed(step.sentence, step.change));
      best = std::max(best, steps.back().prediction.samples_per_s);
    }
    const auto chosen = std::find_if(steps.begin(), steps.end(), [&](const Change& change) {
      return change.prediction.samples_per_s >= kAsGood * best;
    });
    if (chosen->gain >= kWorthIt || chosen->first_epoch_gain >= kWorthItFirst) {
      single_.push_back(way.steps[static_cast<std::size_t>(chosen - steps.begin())]);
      changes_.helpful.push_back(std::move(*chosen));
    } else {
      Change useless = std::move(steps.back());
      useless.sentence = way.nothing;
      changes_.useless.push_back(std::move(useless));
    }
  }

  static Configuration both(const Configuration& a, Configuration b) {
    const auto keep = [](const auto& from, auto& to) {
      if (from) to = from;
    };
    keep(a.cores, b.cores);
    keep(a.threads, b.threads);
    keep(a.remote_cores, b.remote_cores);
    keep(a.memory_bytes, b.memory_bytes);
    keep(a.disk, b.disk);
    keep(a.network, b.network);
    keep(a.layout, b.layout);
    keep(a.cache, b.cache);
    keep(a.transfer_index, b.transfer_index);
    keep(a.io_depth, b.io_depth);
    keep(a.prefetch, b.prefetch);
    keep(a.order, b.order);
    keep(a.without, b.without);
    return b;
  }

  // The best change, and on top of it the best other one: where the first leaves another limit.
  void add_pair() {
    if (changes_.helpful.empty()) return;
    const Change best = changes_.helpful.front();
    if (limit_of(best.prediction) == limit_of(now_)) return;  // more of the same is a step of the way itself
    const auto is_best = [&](const Way::Step& step) { return step.sentence == best.sentence; };
    const auto first = std::find_if(single_.begin(), single_.end(), is_best);
    std::optional<Change> pair;
    for (const Way& way : ways()) {
      for (const Way::Step& step : way.steps) {
        if (step.change.gpu) continue;  // that would be another training
        if (what_if_text(both(first->change, step.change)) == what_if_text(first->change)) continue;
        if (std::any_of(way.steps.begin(), way.steps.end(), is_best)) continue;
        Change change =
            weighed(fmt::format("{}, and {}", best.sentence, step.sentence), both(first->change, step.change));
        if (!pair || kAsGood * change.gain > pair->gain) pair = std::move(change);
      }
    }
    if (pair && 1 + pair->gain >= (1 + best.gain) * (1 + 2 * kWorthIt)) changes_.helpful.push_back(std::move(*pair));
  }

  static Limiter limit_of(const Prediction& prediction) { return kind_of(prediction.limits.front().limiter); }

  // At the same rate; and what it takes away from would still do for what the GPUs need, once they get it.
  bool still_full(const Prediction& prediction) const {
    if (prediction.samples_per_s < kStillFull * now_.samples_per_s) return false;
    if (prediction.first_epoch_samples_per_s < kStillFirst * now_.first_epoch_samples_per_s) return false;
    const double needed = std::max(now_.samples_per_s_needed, now_.samples_per_s);
    return std::all_of(prediction.limits.begin(), prediction.limits.end(), [&](const Limit& limit) {
      const auto before = std::find_if(now_.limits.begin(), now_.limits.end(), [&](const Limit& other) {
        return kind_of(other.limiter) == kind_of(limit.limiter);
      });
      return before == now_.limits.end() || limit.samples_per_s >= kStillFull * std::min(before->samples_per_s, needed);
    });
  }
  // The cores' limit has two names.
  static Limiter kind_of(Limiter limiter) { return limiter == Limiter::kCpuTransform ? Limiter::kCpuDecode : limiter; }

  void add_excess() {
    excess_cores();
    excess_memory();
    if (local()) {
      excess_class(catalogue_.disks, needed_.disk, own_disk_bytes_per_s(), &Configuration::disk,
                   "a disk of the kind {} would do");
    }
    if (over_network()) {
      excess_class(catalogue_.networks, needed_.network, facts_.machine.network_bytes_per_s.value_or(0),
                   &Configuration::network, "a network of the kind {} would do");
    }
  }

  void excess_cores() {
    Configuration change;
    int most = static_cast<int>(facts_.machine.cores);
    int least = std::min(most, std::max(1, static_cast<int>(needed_.vcpus_per_gpu * std::max(1, facts_.step.gpus))));
    while (least < most) {
      const int middle = (least + most) / 2;
      change.cores = middle;
      if (still_full(predict(facts_, change))) {
        most = middle;
      } else {
        least = middle + 1;
      }
    }
    if (most < 1 || most > kMuchLess * facts_.machine.cores) return;
    change.cores = most;
    Prediction prediction = predict(facts_, change);
    if (!still_full(prediction)) return;
    changes_.excess.push_back({fmt::format("{} of the {} cores would do", most, facts_.machine.cores),
                               what_if_text(change), std::move(prediction)});
  }

  void excess_memory() {
    std::optional<Excess> excess;
    const std::uint64_t least = std::max(needed_.memory_bytes, 4 * kMemoryUnit);
    const std::uint64_t all = facts_.machine.memory_bytes;
    for (std::uint64_t bytes = std::bit_ceil(all) / 2; bytes >= least; bytes /= 2) {
      if (static_cast<double>(bytes) > kMuchLess * static_cast<double>(all)) continue;
      Configuration change;
      change.memory_bytes = bytes;
      Prediction prediction = predict(facts_, change);
      if (resolve(facts_, change).loader_bytes > static_cast<double>(bytes) / 2 || !still_full(prediction)) break;
      excess = {fmt::format("{} of memory would do", memory_text(bytes)), what_if_text(change), std::move(prediction)};
    }
    if (excess) changes_.excess.push_back(std::move(*excess));
  }

  // The class that training needs, if it is slower than what is there.
  template <typename Class>
  void excess_class(const std::vector<Class>& classes, const std::string& needed, double own_bytes_per_s,
                    std::optional<Class> Configuration::*part, fmt::format_string<const std::string&> sentence) {
    const auto one =
        std::find_if(classes.begin(), classes.end(), [&](const Class& each) { return each.name == needed; });
    if (one == classes.end() || one->bytes_per_s >= kMuchLess * own_bytes_per_s) return;
    Configuration change;
    change.*part = *one;
    Prediction prediction = predict(facts_, change);
    if (!still_full(prediction)) return;
    changes_.excess.push_back({fmt::format(sentence, one->name), what_if_text(change), std::move(prediction)});
  }

  const Facts& facts_;
  const Prediction& now_;
  const Catalogue& catalogue_;
  const TrainingSize& needed_;
  std::vector<Way::Step> single_;  // those that help
  Changes changes_;
};

}  // namespace

Changes weigh_changes(const Facts& facts, const Prediction& now, const Catalogue& catalogue,
                      const TrainingSize& needed) {
  return Advisor(facts, now, catalogue, needed).weigh();
}

}  // namespace stoker
