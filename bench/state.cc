// What a loader adds to each step beside the work itself: taking its state, finding the next samples, measuring itself,
// and serving those that its cache has, beside a loop of memcpy over blocks of the same size.
//
//   bench_state [--json FILE]      pin it to one core
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/codec/npy.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/order/epoch_order.h"
#include "stoker/order/permutation.h"
#include "stoker/runtime/report/metric_counters.h"
#include "stoker/stoker.h"

namespace stoker {
namespace {

constexpr int kRounds = 9;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Prints figures as they come, and keeps them for --json.
class Report {
 public:
  Report() { fmt::print("{:<44}{:>10} {:<7}{:>8}  holds\n", "", "value", "unit", "limit"); }

  /// `limit` is the most that `value` may be.
  void add(const std::string& name, double value, const std::string& unit, double limit) {
    row(name, value, unit, limit, value < limit);
    entries_.push_back({{"name", name},
                        {"value", value},
                        {"unit", unit},
                        {"against", "the limit"},
                        {"ratio", value / limit},
                        {"floor", nullptr},
                        {"goal", nullptr},
                        {"holds", value < limit}});
  }

  /// `floor` is the least share of `against` that `value` must be.
  void add_ratio(const std::string& name, double value, const std::string& unit, const std::string& against,
                 double ratio, double floor) {
    row(fmt::format("{}, of {}", name, against), ratio, "", floor, ratio >= floor);
    entries_.push_back({{"name", name},
                        {"value", value},
                        {"unit", unit},
                        {"against", against},
                        {"ratio", ratio},
                        {"floor", floor},
                        {"goal", nullptr},
                        {"holds", ratio >= floor}});
  }

  void write(const std::string& path) const {
    std::ofstream stream(path);
    stream << entries_.dump(2) << "\n";
    if (!stream.flush()) fail(ErrorKind::kIo, "{}: cannot be written", path);
  }

 private:
  static void row(const std::string& name, double value, const std::string& unit, double limit, bool holds) {
    fmt::print("{:<44}{:>10.2f} {:<7}{:>8.2f}  {}\n", name, value, unit, limit, holds ? "yes" : "NO");
  }

  nlohmann::ordered_json entries_ = nlohmann::ordered_json::array();
};

// --- the order

/// Nanoseconds for each call of at(i), i = 0 .. calls - 1.
template <typename At>
double ns_each(std::int64_t calls, At at) {
  std::vector<double> rounds;
  std::int64_t sum = 0;  // so that nothing is left out
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t began = now_ns();
    for (std::int64_t i = 0; i < calls; ++i) sum += at(i);
    rounds.push_back(static_cast<double>(now_ns() - began) / static_cast<double>(calls));
  }
  if (sum == 0) fail(ErrorKind::kData, "the order delivers nothing");
  return median(rounds);
}

void measure_order(Report& report) {
  constexpr std::int64_t kCalls = 1'000'000;
  for (const std::int64_t samples : {1'281'167, 10'000'000, 1'000'000'000}) {
    const Permutation permutation(static_cast<std::uint64_t>(samples), 1, 0);
    report.add(
        fmt::format("permutation of {} samples", samples),
        ns_each(kCalls,
                [&](std::int64_t i) { return static_cast<std::int64_t>(permutation(static_cast<std::uint64_t>(i))); }),
        "ns", 50);
  }
}

// --- a cache that has everything

constexpr int kSide = 224, kSamples = 1024, kBatch = 64, kEpochs = 8;
constexpr std::size_t kSampleBytes = std::size_t{kSide} * kSide * 3;

std::uint8_t pixel_byte(int sample, std::size_t i) {
  return static_cast<std::uint8_t>(i * 7 + i / 251 + static_cast<std::size_t>(sample));
}

/// Images as they are in memory, in a shard.
std::string raw_shard() {
  const std::string path = std::filesystem::temp_directory_path() / fmt::format("bench_state_{}.tar", now_ns());
  TarWriter tar(path);
  std::vector<std::uint8_t> pixels(kSampleBytes), npy;
  for (int sample = 0; sample < kSamples; ++sample) {
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = pixel_byte(sample, i);
    encode_npy(interleaved_view<const std::uint8_t>(pixels.data(), kSide, kSide, 3), npy);
    tar.add(fmt::format("{:05}.npy", sample), npy);
  }
  tar.finish();
  return path;
}

/// Fails unless an epoch has every sample, whole.
void check_epoch(Loader& loader, std::int64_t epoch) {
  std::vector<bool> seen(kSamples);
  for (const BatchPtr& batch : loader.epoch(epoch)) {
    for (int slot = 0; slot < batch->size(); ++slot) {
      const std::int64_t sample = batch->sample[static_cast<std::size_t>(slot)];
      const Bytes bytes = batch->slot_bytes(0, slot);
      bool equal = bytes.size() == kSampleBytes && !seen[static_cast<std::size_t>(sample)];
      for (std::size_t i = 0; equal && i < bytes.size(); ++i) {
        equal = bytes[i] == pixel_byte(static_cast<int>(sample), i);
      }
      if (!equal) fail(ErrorKind::kData, "sample {} of epoch {} is not what was stored", sample, epoch);
      seen[static_cast<std::size_t>(sample)] = true;
    }
  }
}

/// Seconds that the loader takes for so many epochs from `first` on: enough that the batches which it makes ahead of
/// the clock's start do not count. It has as many batches as CopyLoop.
double seconds_of(Loader& loader, std::int64_t first) {
  const std::int64_t began = now_ns();
  std::int64_t samples = 0;
  for (std::int64_t epoch = first; epoch < first + kEpochs; ++epoch) {
    for (const BatchPtr& batch : loader.epoch(epoch)) samples += batch->size();
  }
  if (samples != kEpochs * kSamples) fail(ErrorKind::kData, "{} epochs have {} samples", kEpochs, samples);
  return 1e-9 * static_cast<double>(now_ns() - began);
}

/// The same blocks, in an order as random, to as many batches, by memcpy alone.
class CopyLoop {
 public:
  explicit CopyLoop(std::size_t batches) : blocks_(kSamples * kSampleBytes, 1), batches_(batches * kBatchBytes) {}

  double seconds(std::int64_t first) {
    const std::int64_t began = now_ns();
    for (std::int64_t epoch = first; epoch < first + kEpochs; ++epoch) {
      const Permutation permutation(kSamples, 1, static_cast<std::uint64_t>(epoch));
      for (std::size_t i = 0; i < kSamples; ++i) {
        std::memcpy(batches_.data() + i * kSampleBytes % batches_.size(),
                    blocks_.data() + permutation(i) * kSampleBytes, kSampleBytes);
      }
    }
    return 1e-9 * static_cast<double>(now_ns() - began);
  }

 private:
  static constexpr std::size_t kBatchBytes = kBatch * kSampleBytes;
  std::vector<std::uint8_t> blocks_, batches_;
};

/// What one sample's metrics take that was read by itself: the clock before, between and after its stages, what its
/// worker counts, and what changes of levels when its read ends and when it is done.
double metrics_ns() {
  MetricCounters counters;
  counters.have_workers(1);
  WorkerCounters& worker = counters.worker(0);
  MetricCounters::Levels levels{};
  const auto change = [&](Level level, std::int64_t by) {
    levels[static_cast<std::size_t>(level)] += by;
    counters.observe(levels);
  };
  return ns_each(100'000, [&](std::int64_t i) {
    for (const Metric metric : {Metric::kReads, Metric::kBytesRead, Metric::kBytesFetched}) counters.add(metric, 1);
    change(Level::kTicketsReady, i % 2 == 0 ? 1 : -1);
    const std::int64_t began = now_ns(), decoded = now_ns(), finished = now_ns();
    worker.add(stage_ns(StageSide::kCpu, Stage::kDecode), decoded - began);
    worker.add(stage_ns(StageSide::kCpu, Stage::kGeometry, Stage::kColor), finished - decoded);
    worker.add(Metric::kEntryPointsUsed, 1);
    change(Level::kBatchesReady, i % 2 == 0 ? 1 : -1);
    return finished;
  });
}

void measure_loader(Report& report) {
  const std::string shard = raw_shard();
  const auto data = open(shard);
  const Recipe recipe = Recipe().decode().center_crop(kSide).layout("nhwc");
  LoaderOptions options{.batch = kBatch, .threads = 1, .tune = TuneMode::kOff, .cache = CacheKind::kRam};
  constexpr int kPrefetch = 2;
  options.prefetch = kPrefetch;
  Loader loader(data, recipe, options);
  check_epoch(loader, 0);  // fills the cache
  std::filesystem::remove(shard);
  check_epoch(loader, 1);
  if (loader.metrics()[Metric::kCacheBytes] < static_cast<std::int64_t>(kSamples * kSampleBytes)) {
    fail(ErrorKind::kData, "the cache does not have every sample");
  }

  CopyLoop copies(kPrefetch + 1);
  copies.seconds(0);
  std::vector<double> ratios, rates;
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t first = 2 + std::int64_t{round} * kEpochs;
    const double copied = copies.seconds(first), served = seconds_of(loader, first);
    ratios.push_back(copied / served);
    rates.push_back(1e-9 * kEpochs * kSamples * kSampleBytes / served);
  }
  report.add_ratio("raw samples out of the cache", median(rates), "GB/s", "a memcpy loop", median(ratios), 0.8);
  fmt::print("{:<44}{:>10.2f} {}\n", "  which is", median(rates), "GB/s");
  report.add("metrics, of a hundredth of such a sample", metrics_ns(), "ns",
             0.01 * static_cast<double>(kSampleBytes) / median(rates));

  std::size_t bytes = 0;
  report.add("taking the state",
             1e-3 * ns_each(10'000,
                            [&](std::int64_t) {
                              bytes = std::max(bytes, loader.state().size());
                              return 1;
                            }),
             "us", 50);
  report.add("its size", static_cast<double>(bytes), "bytes", 1024);
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  try {
    const bool writes = argc == 3 && std::string(argv[1]) == "--json";
    if (argc != 1 && !writes) stoker::fail(stoker::ErrorKind::kUsage, "bench_state takes --json FILE, or nothing");
    stoker::Report report;
    stoker::measure_order(report);
    stoker::measure_loader(report);
    if (writes) report.write(argv[2]);
  } catch (const stoker::Error& error) {
    fmt::print(stderr, "bench_state: {}\n", error.what());
    return error.kind() == stoker::ErrorKind::kUsage ? 2 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_state: {}\n", error.what());
    return 1;
  }
  return 0;
}
