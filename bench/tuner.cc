// The tuner beside an exhaustive search: configurations of an emulated accelerator and the way to it, each with a grid
// of knobs that are fixed by hand, the tuner from a cold start, and then in turn the tuner, the grid's best once more
// (the best of many noisy figures flatters itself), and a loader with the tuner's own knobs fixed.
//
//   bench_tuner [--data FOLDER] [--json FILE] [--seconds N] [--explain] [--quick]    pin it to two cores
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/fed_loader.h"
#include "bench/ratio_report.h"
#include "stoker/base/units.h"
#include "stoker/order/permutation.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/synth/synth.h"
#include "stoker/plan/plan.h"
#include "stoker/stoker.h"
#include "stoker/tuner/tuning_log.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr int kBatch = 32;
constexpr std::uint64_t kMemory = std::uint64_t{2} << 30;  // of each loader
constexpr int kThreads[] = {1, 2}, kIndices[] = {0, 1, 2, 3}, kPrefetches[] = {1, 2, 4};
constexpr int kLeftOut = 2;  // batches on their way, beside those made ahead
constexpr int kWindowsMax = 60;
constexpr double kNearBest = 0.99, kFed = 0.99;  // of the best rate; of what the accelerator takes
constexpr double kFloorOfBest = 0.95, kFloorOfFixed = 0.99, kWaitMost = 0.01;

struct Effort {
  std::size_t configurations = 12;
  int images = 200;
  std::int64_t epoch_samples = 12'000;
  PassLength grid{0.4, 12}, round{0.5, 12}, alone{0.4, 8};
  int rounds = 7, audit_windows = 3, windows_max = kWindowsMax;
  double seconds = 690;  // in all, about: what the tuner's search may take depends on it

  static Effort quick() {
    return {.configurations = 2,
            .images = 40,
            .epoch_samples = 2'000,
            .grid = {0, 2},
            .round = {0, 3},
            .alone = {0, 3},
            .rounds = 2,
            .audit_windows = 1,
            .windows_max = 1};
  }
};

struct Arguments {
  std::string data, json;
  bool quick = false, explain = false;
  std::optional<double> seconds{};
};

/// For the data, and for what tuners keep.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(fs::temp_directory_path() / fmt::format("stoker-bench-tuner-{}", ::getpid())) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

std::string text_of(const KnobSetting& knobs) {
  return fmt::format("{} thr., index {}, prefetch {}, I/O depth {}", knobs.threads, knobs.transfer_index,
                     knobs.prefetch, knobs.io_depth);
}

// --- what is fed

/// The second costs a few times as much, and its tensors are larger.
std::vector<std::pair<std::string, Recipe>> recipes() {
  static constexpr const char* kDear = R"(
[[view]]
name = "image"
operators = [
  { op = "decode", mode = "faithful" },
  { op = "random_resized_crop", size = 288 },
  { op = "random_flip" },
  { op = "normalize", preset = "imagenet" },
]
[[view]]
name = "label"
)";
  return {{"imagenet-train", Recipe::named("imagenet-train")}, {"faithful 288", Recipe::from_toml(kDear)}};
}

struct Configuration {
  std::string name;     // the same on every machine; and
  std::string figures;  // what that is here
  const Recipe* recipe;
  double step_s;
  std::string device;
};

/// Its shard, indexed, as often as it takes to make epochs long.
std::shared_ptr<const Dataset> make_data(const Arguments& arguments, const Effort& effort, const TemporaryFolder& to) {
  std::string images = arguments.data;
  if (images.empty()) {
    images = to.file("images");
    synthesize(images, {.count = effort.images, .classes = 10, .seed = 1});
  }
  const PackResult packed = pack({images}, to.file("packed"), {.shard_bytes = std::uint64_t{1} << 40});
  if (packed.samples < kBatch) fail(ErrorKind::kData, "{}: there are fewer than {} images", images, kBatch);
  const std::string shard = to.file("packed") + "/shard-000000.tar";
  const std::int64_t times = (effort.epoch_samples + packed.samples - 1) / packed.samples;
  return open(std::vector<std::string>(static_cast<std::size_t>(times), shard));
}

class Bench {
 public:
  Bench(const Arguments& arguments, const Effort& effort)
      : arguments_(arguments), effort_(effort), end_ns_(now_ns() + nanoseconds(effort.seconds)) {
    ::setenv("STOKER_CACHE_DIR", kept().c_str(), 1);  // before anything is opened, and there are threads
    data_ = make_data(arguments, effort, folder_);
  }

  void run();

 private:
  struct GridPoint {
    KnobSetting knobs;
    double rate;
  };
  struct Alone {
    double rate;            // of one thread that does everything
    double device_bytes_0;  // what crosses at index 0, of a sample
  };
  struct Tuned {
    bool settled = false;
    std::size_t windows = 0;
    double seconds = 0;
  };
  struct Rounds {
    std::vector<double> rates, of_best, of_fixed, waits;
    int moved = 0;  // in which the tuner turned a knob
  };

  static std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }
  std::string kept() const { return folder_.file("kept"); }

  LoaderOptions options(const std::string& device, TuneMode tune) const;
  std::unique_ptr<FedLoader> loader(const Configuration& configuration, TuneMode tune) const;
  void check(const Recipe& recipe, const std::string& name);
  Alone measure_alone(const Recipe& recipe, const std::string& name);
  std::vector<Configuration> configurations();
  std::vector<GridPoint> search(FedLoader& fixed, std::uint64_t seed) const;
  Tuned settle(FedLoader& tuned, std::int64_t until_ns) const;
  Rounds compare(FedLoader& tuned, FedLoader& best, FedLoader& fixed) const;
  void measure(const Configuration& configuration, std::size_t number);
  void explain(const TuningLog& log, const std::vector<GridPoint>& grid) const;
  void summarise();

  const Arguments& arguments_;
  const Effort effort_;
  const std::int64_t end_ns_;
  const TemporaryFolder folder_;
  std::shared_ptr<const Dataset> data_;
  RatioReport report_;
  std::vector<double> of_best_, of_fixed_;  // of all configurations
};

LoaderOptions Bench::options(const std::string& device, TuneMode tune) const {
  LoaderOptions options{.batch = kBatch, .seed = 1, .tune = tune, .memory = kMemory};
  options.device = open_device(device);
  if (tune == TuneMode::kOff) {
    options.threads = 1;
    options.transfer_index = 3;
  }
  return options;
}

std::unique_ptr<FedLoader> Bench::loader(const Configuration& configuration, TuneMode tune) const {
  return std::make_unique<FedLoader>(data_, *configuration.recipe, options(configuration.device, tune),
                                     configuration.step_s);
}

/// Ends everything unless a tuned loader makes the batches of one that is not. Steps are long, as the host, which
/// stands in for the device, is slow.
void Bench::check(const Recipe& recipe, const std::string& name) {
  constexpr int kSmallBatch = 8, kEpochBatches = 5;
  constexpr double kStepS = 0.1, kPatienceS = 60;
  std::vector<std::int64_t> some(kSmallBatch * kEpochBatches);
  for (std::size_t i = 0; i < some.size(); ++i) some[i] = static_cast<std::int64_t>(i);
  const std::shared_ptr<const Dataset> few = subset(data_, some);
  const auto audited = [&](TuneMode tune, double step_s, const std::string& path, const auto& goes_on) {
    LoaderOptions with = options("emulated:execute", tune);
    with.batch = kSmallBatch;
    with.audit = path;
    Loader loader(few, recipe, std::move(with));
    EmulatedAccelerator accelerator(step_s);
    std::int64_t epochs = 0;
    for (; goes_on(loader, epochs); ++epochs) {
      for (const BatchPtr& batch : loader.epoch(epochs)) accelerator.step(batch->ready_ns());
    }
    return epochs;
  };
  const std::string tuned = folder_.file("tuned"), plain = folder_.file("plain");
  const auto windows = static_cast<std::size_t>(effort_.audit_windows);
  const std::int64_t give_up = now_ns() + nanoseconds(kPatienceS);
  const std::int64_t epochs = audited(TuneMode::kOn, kStepS, tuned, [&](const Loader& loader, std::int64_t) {
    if (now_ns() > give_up) fail(ErrorKind::kData, "{}: in {} s the tuner has seen too few windows", name, kPatienceS);
    return loader.tuning().moves.size() < windows;
  });
  audited(TuneMode::kOff, 0, plain, [&](const Loader&, std::int64_t epoch) { return epoch < epochs; });
  const auto text = [](const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string want = text(plain);
  const auto lines = std::count(want.begin(), want.end(), '\n');
  if (want != text(tuned) || lines != epochs * kEpochBatches * kSmallBatch) {
    fail(ErrorKind::kData, "{}: a tuned loader does not make what one makes whose knobs are fixed", name);
  }
  fmt::print("{}: {} samples equal those of fixed knobs, while {} windows were tuned\n", name, lines, windows);
}

/// On the way to a device that is as good as none.
Bench::Alone Bench::measure_alone(const Recipe& recipe, const std::string& name) {
  const Configuration alone{name, "", &recipe, 1e-6, "emulated:h100,copy=1TB/s,coded=1TB/s"};
  const std::unique_ptr<FedLoader> fed = loader(alone, TuneMode::kOff);
  const auto measured = [&] { return fed->measure(kPrefetchDefault + kLeftOut, effort_.alone); };
  std::vector<double> rates(5);
  for (double& rate : rates) rate = measured().samples_per_s;
  KnobSetting knobs = fed->knobs();
  knobs.transfer_index = 0;
  fed->set(knobs);
  return {median(rates), measured().device_bytes};
}

/// In proportion to what a thread does here, so that they mean the same on every machine.
std::vector<Configuration> Bench::configurations() {
  static const auto kRecipes = recipes();
  struct Step {
    const char* name;
    double rate;  // of the accelerator
  };
  constexpr double kDecodes = 1.2, kNarrow = 0.45;  // of a thread's rate: coded images decoded, and tensors copied
  constexpr Step kSteps[] = {{"never fed", 10}, {"fed by two", 1.3}, {"fed by one", 0.6}};
  std::vector<Configuration> all;
  for (const auto& [name, recipe] : kRecipes) {
    check(recipe, name);
    const auto [rate, device_bytes_0] = measure_alone(recipe, name);
    double tensor_bytes = 0;
    for (const OutputSpec& output : Plan(recipe).outputs())
      tensor_bytes += static_cast<double>(output.bytes_per_sample());
    // What a device has to decode is less than what crosses: entry points do, too.
    const double decoded = kDecodes * rate * device_bytes_0;
    fmt::print("{}: one thread makes {:.0f} img/s; the device decodes {}/s of JPEGs\n", name, rate,
               format_size(decoded));
    for (const Step& step : kSteps) {
      for (const bool narrow : {false, true}) {
        const double copied = narrow ? kNarrow * rate * tensor_bytes : 12e9;
        const double step_s = kBatch / (step.rate * rate);
        all.push_back({fmt::format("{}, {}, {} copy", name, step.name, narrow ? "narrow" : "wide"),
                       fmt::format("steps of {:.1f} ms, {}/s to the device", 1e3 * step_s, format_size(copied)),
                       &recipe, step_s, fmt::format("emulated:h100,copy={:.0f}B/s,coded={:.0f}B/s", copied, decoded)});
      }
    }
  }
  return all;
}

/// The whole grid, in an order of its own, so that what else goes on meets no row or column of it.
std::vector<Bench::GridPoint> Bench::search(FedLoader& fixed, std::uint64_t seed) const {
  std::vector<GridPoint> grid;
  for (const int threads : kThreads) {
    for (const int index : kIndices) {
      for (const int prefetch : kPrefetches) grid.push_back({{threads, index, prefetch, kIoDepthMax}, 0});
    }
  }
  const Permutation order(grid.size(), 1, seed);
  for (std::uint64_t i = 0; i < grid.size(); ++i) {
    GridPoint& point = grid[order(i)];
    const int ahead = std::max(fixed.knobs().prefetch, point.knobs.prefetch);
    fixed.set(point.knobs);
    point.rate = fixed.measure(ahead + kLeftOut, effort_.grid).samples_per_s;
  }
  fixed.rest();
  std::stable_sort(grid.begin(), grid.end(), [](const GridPoint& a, const GridPoint& b) { return a.rate > b.rate; });
  return grid;
}

Bench::Tuned Bench::settle(FedLoader& tuned, std::int64_t until_ns) const {
  Tuned result;
  const std::int64_t began = now_ns();
  for (bool done = false; !done;) {
    tuned.step();
    const TuningLog log = tuned.loader().tuning();
    result.windows = log.moves.size();
    result.settled = !log.moves.empty() && log.moves.back().settled_on.has_value();
    done = result.settled || result.windows >= static_cast<std::size_t>(effort_.windows_max) ||
           (now_ns() > until_ns && !log.moves.empty());
  }
  result.seconds = 1e-9 * static_cast<double>(now_ns() - began);
  tuned.rest();
  return result;
}

/// In the rounds the tuner stands between the others, which take turns at the first place.
Bench::Rounds Bench::compare(FedLoader& tuned, FedLoader& best, FedLoader& fixed) const {
  Rounds rounds;
  const auto measure = [&](FedLoader& loader) {
    const Pass pass = loader.measure(loader.knobs().prefetch + kLeftOut, effort_.round);
    loader.rest();
    return pass;
  };
  for (int round = 0; round < effort_.rounds; ++round) {
    const KnobSetting knobs = tuned.knobs();
    if (fixed.knobs() != knobs) {
      fixed.set(knobs);
      fixed.rest();
    }
    const bool best_first = round % 2 == 0;
    const Pass before = measure(best_first ? best : fixed);
    const Pass own = measure(tuned);
    const Pass after = measure(best_first ? fixed : best);
    rounds.rates.push_back(own.samples_per_s);
    rounds.waits.push_back(own.wait_share);
    rounds.of_best.push_back(own.samples_per_s / (best_first ? before : after).samples_per_s);
    if (tuned.knobs() != knobs) {
      ++rounds.moved;
    } else {
      rounds.of_fixed.push_back(own.samples_per_s / (best_first ? after : before).samples_per_s);
    }
  }
  return rounds;
}

void Bench::explain(const TuningLog& log, const std::vector<GridPoint>& grid) const {
  for (const GridPoint& point : grid)
    fmt::print("      grid: {:.1f} img/s with {}\n", point.rate, text_of(point.knobs));
  for (const TunedStage& stage : all_stages(log.workload)) {
    fmt::print("      stage {}: {:.0f} us of a core, {:.0f} us of the device, {:.0f} bytes out\n", stage.name,
               1e6 * stage.cpu_s, 1e6 * stage.device_s.value_or(0), stage.bytes_out);
  }
  fmt::print("      {}\n", log.first_why);
  std::string said;
  for (const TuningMove& move : log.moves) {
    const TunerWindow& window = move.window;
    fmt::print("      {:.1f} s: {} made {:.1f} img/s in {:.2f} s, waiting {:.1f}%{}{}\n", move.at_s,
               text_of(move.knobs), static_cast<double>(window.samples) / window.seconds, window.seconds,
               100 * window.wait_s / window.seconds, move.why == said ? "" : ": ", move.why == said ? "" : move.why);
    said = move.why;
  }
}

void Bench::measure(const Configuration& configuration, std::size_t number) {
  const double left_s = 1e-9 * static_cast<double>(end_ns_ - now_ns());
  const double share_s = left_s / static_cast<double>(effort_.configurations - number);
  const std::int64_t own_end = now_ns() + nanoseconds(share_s);
  fmt::print("\n{}: {}\n", configuration.name, configuration.figures);
  const std::unique_ptr<FedLoader> best = loader(configuration, TuneMode::kOff);
  const std::vector<GridPoint> grid = search(*best, number);
  const GridPoint& winner = grid.front();
  int fewest = winner.knobs.threads;
  for (const GridPoint& point : grid) {
    if (point.rate >= kNearBest * winner.rate) fewest = std::min(fewest, point.knobs.threads);
  }
  fs::remove_all(kept());
  const std::unique_ptr<FedLoader> tuned = loader(configuration, TuneMode::kOn);
  const double pass_s = std::max(effort_.round.seconds, effort_.round.batches * kBatch / winner.rate);
  const Tuned found = settle(*tuned, own_end - nanoseconds(1.4 * 3 * effort_.rounds * pass_s));
  best->set(winner.knobs);
  best->rest();
  const std::unique_ptr<FedLoader> fixed = loader(configuration, TuneMode::kOff);
  fixed->rest();
  const KnobSetting knobs = tuned->knobs();
  const Rounds rounds = compare(*tuned, *best, *fixed);

  const double fed_rate = kBatch / configuration.step_s;
  fmt::print("  grid: {} ({:.1f} img/s)\n  tuner: {}, {} after {} windows and {:.1f} s\n", text_of(winner.knobs),
             winner.rate, text_of(knobs), found.settled ? "settled" : "not yet settled", found.windows, found.seconds);
  if (rounds.moved > 0) fmt::print("  it turned knobs in {} of the rounds\n", rounds.moved);
  const double of_best = median(rounds.of_best), wait = median(rounds.waits);
  const auto name = [&](const char* what) { return fmt::format("{}: {}", configuration.name, what); };
  report_.add({name("tuner"), median(rounds.rates), "img/s", "the grid's best", of_best, kFloorOfBest});
  of_best_.push_back(of_best);
  if (!rounds.of_fixed.empty()) {
    of_fixed_.push_back(median(rounds.of_fixed));
    report_.add({name("tuner on"), median(rounds.rates), "img/s", "the same knobs fixed", of_fixed_.back()});
  }
  report_.add({name("windows"), static_cast<double>(found.windows), found.settled ? "settled" : "so far",
               fmt::format("the most, {}", kWindowsMax), static_cast<double>(found.windows) / kWindowsMax});
  report_.add({name("threads"), static_cast<double>(knobs.threads), "threads", fmt::format("the fewest, {}", fewest),
               static_cast<double>(knobs.threads) / fewest});
  if (winner.rate >= kFed * fed_rate) {
    report_.add({name("waiting"), 100 * wait, "%", "1%", wait / kWaitMost, {}, 1.0});
  }
  if (arguments_.explain || of_best < kFloorOfBest) explain(tuned->loader().tuning(), grid);
}

void Bench::summarise() {
  fmt::print("\nall {} configurations\n", of_best_.size());
  const auto add = [&](const char* what, const std::vector<double>& ratios, double ratio, const char* against,
                       std::optional<double> floor) {
    report_.add({fmt::format("all: {}", what), static_cast<double>(ratios.size()), "configs", against, ratio, floor});
  };
  add("worst", of_best_, *std::min_element(of_best_.begin(), of_best_.end()), "the grid's best", kFloorOfBest);
  add("median", of_best_, median(of_best_), "the grid's best", {});
  if (of_fixed_.empty()) return;
  add("worst", of_fixed_, *std::min_element(of_fixed_.begin(), of_fixed_.end()), "the same knobs fixed", {});
  add("median", of_fixed_, median(of_fixed_), "the same knobs fixed", kFloorOfFixed);
}

void Bench::run() {
  const std::int64_t began = now_ns();
  std::vector<Configuration> all = configurations();
  // Some of each recipe, if not all are wanted.
  const std::size_t every = all.size() / effort_.configurations;
  for (std::size_t number = 0; number < effort_.configurations; ++number) measure(all[number * every], number);
  summarise();
  fmt::print("it took {}\n", format_duration(1e-9 * static_cast<double>(now_ns() - began)));
  if (!arguments_.json.empty()) report_.write(arguments_.json);
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--quick") {
      arguments.quick = true;
    } else if (name == "--explain") {
      arguments.explain = true;
    } else if (i + 1 < argc && (name == "--data" || name == "--json")) {
      (name == "--data" ? arguments.data : arguments.json) = argv[++i];
    } else if (i + 1 < argc && name == "--seconds") {
      const std::string_view value = argv[++i];
      double seconds = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
      if (error != std::errc() || end != value.data() + value.size() || !(seconds > 0)) {
        fail(ErrorKind::kUsage, "--seconds takes a number above 0, not '{}'", value);
      }
      arguments.seconds = seconds;
    } else {
      fail(ErrorKind::kUsage,
           "bench_tuner takes --data FOLDER, --json FILE, --seconds N, --explain and --quick, not '{}'", name);
    }
  }
  return arguments;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  try {
    const stoker::Arguments arguments = stoker::parse(argc, argv);
    stoker::Effort effort = arguments.quick ? stoker::Effort::quick() : stoker::Effort();
    if (arguments.seconds) effort.seconds = *arguments.seconds;
    stoker::Bench(arguments, effort).run();
  } catch (const stoker::Error& error) {
    fmt::print(stderr, "bench_tuner: {}\n", error.message());
    return error.kind() == stoker::ErrorKind::kUsage ? 2 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_tuner: {}\n", error.what());
    return 1;
  }
  return 0;
}
