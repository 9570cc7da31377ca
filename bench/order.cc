// How well each order shuffles, and what it asks of storage: for the worst case, a data set whose samples lie sorted by
// class, how mixed the batches are beside uniformly drawn ones, how far samples travel from one epoch to the next and
// how many of their batch's others they meet again.
//
//   bench_order [--json FILE]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/order/epoch_order.h"
#include "stoker/order/permutation.h"

namespace {

using stoker::ErrorKind;
using stoker::fail;
using stoker::OrderKind;
using stoker::OrderOptions;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kClasses = 1000, kClassSamples = 1280, kSamples = kClasses * kClassSamples;
constexpr std::int64_t kBatch = 256, kBatches = kSamples / kBatch;
static_assert(kBatches * kBatch == kSamples);
constexpr double kSampleBytes = 110e3;  // of a photograph of ImageNet's kind: docs/measurements/synth.md

struct Packing {
  std::string name;
  std::int64_t shards;
  bool sorted;
};

struct Figures {
  double classes = 0;      // distinct ones in a batch, mean
  double classes_min = 0;  // in the least mixed batch
  double clumping = 0;     // chi-square of a batch's classes over what uniform sampling gives: 1 is as uniform
  double met_again = 0;    // how many of a sample's 255 mates are its mates in the next epoch too, mean
  double travel = 0;       // |position in one epoch - position in the next| over the epoch's length, mean
  double travel_p99 = 0;   // and its 99th percentile
  double ahead_bytes = 0;  // to be read ahead of all ranks so that storage is never read at random
};

/// The class of each sample as it lies in the shards.
Numbers classes_of(const Packing& packing) {
  const stoker::Permutation shuffle(kSamples, 1, 1);
  Numbers classes(kSamples);
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    classes[at] = (packing.sorted ? i : static_cast<std::int64_t>(shuffle(at))) / kClassSamples;
  }
  return classes;
}

/// The samples of an epoch by position. Fails unless each is there once.
Numbers epoch_of(const OrderOptions& options, std::int64_t epoch) {
  const stoker::EpochOrder order(options, epoch);
  Numbers samples(kSamples);
  std::vector<bool> seen(kSamples);
  for (std::size_t position = 0; position < samples.size(); ++position) {
    samples[position] = order.sample_at(static_cast<std::int64_t>(position)).value_or(-1);
  }
  for (const std::int64_t sample : samples) {
    if (sample < 0 || sample >= kSamples || seen[static_cast<std::size_t>(sample)]) {
      fail(ErrorKind::kData, "the order {} does not deliver every sample once", to_string(options.kind));
    }
    seen[static_cast<std::size_t>(sample)] = true;
  }
  return samples;
}

/// Distinct classes in a batch that is drawn uniformly, without replacement: each is left out with equal odds.
double uniform_classes() {
  double left_out = 1;
  for (int i = 0; i < kBatch; ++i) {
    left_out *= static_cast<double>(kSamples - kClassSamples - i) / static_cast<double>(kSamples - i);
  }
  return static_cast<double>(kClasses) * (1 - left_out);
}

/// The mean of the chi-square statistic of such a batch: counts of a multivariate hypergeometric distribution.
double uniform_chi_square() {
  return static_cast<double>(kClasses - 1) * static_cast<double>(kSamples - kBatch) / static_cast<double>(kSamples - 1);
}

double uniform_met_again() {
  return static_cast<double>((kBatch - 1) * (kBatch - 1)) / static_cast<double>(kSamples - 1);
}

/// Calls see(count) for each value that occurs in values[begin .. begin + kBatch), with how often it does.
template <typename See>
void tally(const Numbers& values, std::size_t begin, See see) {
  static std::array<std::int64_t, kBatch> batch;
  std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(begin), kBatch, batch.begin());
  std::sort(batch.begin(), batch.end());
  for (auto run = batch.begin(); run != batch.end();) {
    const auto next = std::find_if(run, batch.end(), [&](std::int64_t value) { return value != *run; });
    see(static_cast<double>(next - run));
    run = next;
  }
}

/// How mixed the batches are.
void measure_classes(const Numbers& samples, const Numbers& class_of, Figures& figures) {
  Numbers classes(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) classes[i] = class_of[static_cast<std::size_t>(samples[i])];
  constexpr double kExpected = static_cast<double>(kBatch) / static_cast<double>(kClasses);
  figures.classes_min = kBatch;
  for (std::size_t begin = 0; begin < classes.size(); begin += kBatch) {
    double distinct = 0, squares = 0;
    tally(classes, begin, [&](double count) {
      distinct += 1;
      squares += count * count;
    });
    figures.classes += distinct / static_cast<double>(kBatches);
    figures.classes_min = std::min(figures.classes_min, distinct);
    figures.clumping += (squares / kExpected - kBatch) / uniform_chi_square() / static_cast<double>(kBatches);
  }
}

/// What becomes of a batch in the next epoch.
void measure_travel(const Numbers& samples, const Numbers& next_samples, Figures& figures) {
  Numbers next_position(samples.size()), next_batch(samples.size()), distance(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    next_position[static_cast<std::size_t>(next_samples[i])] = static_cast<std::int64_t>(i);
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t next = next_position[static_cast<std::size_t>(samples[i])];
    next_batch[i] = next / kBatch;
    distance[i] = std::abs(next - static_cast<std::int64_t>(i));
    figures.travel += static_cast<double>(distance[i]) / kSamples / kSamples;
  }
  for (std::size_t begin = 0; begin < samples.size(); begin += kBatch) {
    tally(next_batch, begin, [&](double count) { figures.met_again += count * (count - 1) / kSamples; });
  }
  const auto p99 = distance.begin() + kSamples / 100 * 99;
  std::nth_element(distance.begin(), p99, distance.end());
  figures.travel_p99 = static_cast<double>(*p99) / kSamples;
}

Figures measure(const OrderOptions& options, const Numbers& class_of) {
  Figures figures;
  const Numbers samples = epoch_of(options, 0);
  measure_classes(samples, class_of, figures);
  measure_travel(samples, epoch_of(options, 1), figures);
  if (options.kind == OrderKind::kWindowed) {
    figures.ahead_bytes = static_cast<double>(std::min(options.window * options.lanes, kSamples)) * kSampleBytes;
  } else if (options.kind == OrderKind::kGlobal) {
    figures.ahead_bytes = static_cast<double>(kSamples) * kSampleBytes;
  }
  return figures;
}

std::string described(const OrderOptions& options) {
  if (options.kind != OrderKind::kWindowed) return std::string(to_string(options.kind));
  return fmt::format("windowed {} x {}", options.window, options.lanes);
}

/// Prints figures as they come, and keeps them for --json.
class Report {
 public:
  void begin(const Packing& packing) {
    packing_ = packing.name;
    fmt::print("\n{}\n{:<22}{:>9}{:>9}{:>10}{:>11}{:>9}{:>9}{:>10}\n", packing.name, "window x lanes", "classes",
               "fewest", "clumping", "met again", "travel", "its p99", "ahead GB");
    fmt::print("{:<22}{:>9.1f}{:>9}{:>10.2f}{:>11.2f}{:>9.2f}{:>9.2f}\n", "uniform sampling", uniform_classes(), "",
               1.0, uniform_met_again(), 1.0 / 3, 0.9);
  }

  void add(const OrderOptions& options, const Figures& figures) {
    fmt::print("{:<22}{:>9.1f}{:>9.0f}{:>10.2f}{:>11.2f}{:>9.2f}{:>9.2f}{:>10.2f}\n", described(options),
               figures.classes, figures.classes_min, figures.clumping, figures.met_again, figures.travel,
               figures.travel_p99, figures.ahead_bytes * 1e-9);
    const std::string name = fmt::format("order {}, {}: ", described(options), packing_);
    add_entry(name + "classes", figures.classes, "per batch", uniform_classes());
    add_entry(name + "clumping", figures.clumping, "", 1);
    add_entry(name + "met again", figures.met_again, "samples", uniform_met_again());
    add_entry(name + "travel", figures.travel, "epochs", 1.0 / 3);
    add_entry(name + "read ahead", figures.ahead_bytes, "bytes", 0);
  }

  void write(const std::string& path) const {
    std::ofstream stream(path);
    stream << entries_.dump(2) << "\n";
    if (!stream.flush()) fail(ErrorKind::kIo, "{}: cannot be written", path);
  }

 private:
  void add_entry(const std::string& name, double value, const std::string& unit, double uniform) {
    nlohmann::ordered_json entry{{"name", name},     {"value", value},   {"unit", unit},    {"against", nullptr},
                                 {"ratio", nullptr}, {"floor", nullptr}, {"goal", nullptr}, {"holds", nullptr}};
    if (uniform > 0) {
      entry["against"] = "uniform sampling";
      entry["ratio"] = value / uniform;
    }
    entries_.push_back(entry);
  }

  std::string packing_;
  nlohmann::ordered_json entries_ = nlohmann::ordered_json::array();
};

void run(const std::string& json) {
  Report report;
  const Packing packings[] = {{"sorted by class, 1000 shards", 1000, true},
                              {"sorted by class, 100 shards", 100, true},
                              {"shuffled when packed, 100 shards", 100, false}};
  for (const Packing& packing : packings) {
    report.begin(packing);
    const Numbers class_of = classes_of(packing);
    OrderOptions options{.samples = kSamples,
                         .global_batch = kBatch,
                         .seed = 1,
                         .shard_samples = std::make_shared<const Numbers>(packing.shards, kSamples / packing.shards)};
    for (const OrderKind kind : {OrderKind::kGlobal, OrderKind::kNone}) {
      options.kind = kind;
      report.add(options, measure(options, class_of));
    }
    options.kind = OrderKind::kWindowed;
    for (const int lanes : {8, 32, 128}) {
      for (const std::int64_t window : {256, 1024, 4096, 16384, 65536}) {
        options.lanes = lanes;
        options.window = window;
        report.add(options, measure(options, class_of));
      }
    }
  }
  if (!json.empty()) report.write(json);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bool writes = argc == 3 && std::string(argv[1]) == "--json";
    if (argc != 1 && !writes) fail(ErrorKind::kUsage, "bench_order takes --json FILE, or nothing");
    run(writes ? argv[2] : "");
  } catch (const stoker::Error& error) {
    fmt::print(stderr, "bench_order: {}\n", error.message());
    return error.kind() == ErrorKind::kUsage ? 2 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_order: {}\n", error.what());
    return 1;
  }
  return 0;
}
