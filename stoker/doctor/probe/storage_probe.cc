#include "stoker/doctor/probe/storage_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "stoker/base/cgroup.h"
#include "stoker/base/clock.h"
#include "stoker/base/units.h"
#include "stoker/doctor/probe/figure_of.h"
#include "stoker/doctor/probe/file_opens.h"
#include "stoker/doctor/probe/loose_reads.h"
#include "stoker/doctor/probe/shard_reads.h"
#include "stoker/doctor/probe/storage_device.h"
#include "stoker/runtime/open_stores.h"
#include "stoker/runtime/thread_pool.h"

namespace stoker {
namespace {

constexpr std::array<int, 4> kDepths = {1, 4, 16, 64};
constexpr std::uint64_t kRecordReadMax = 4 << 20;
constexpr std::uint64_t kReadMemoryMax = std::uint64_t{64} << 20;  // of all reads that are under way

// Devices keep about so much in caches of their own.
constexpr std::uint64_t kFewBytes = std::uint64_t{64} << 20;

constexpr int kOpensAtOnce = 16;
// That opening a file takes from the device at least, if its inode was not in memory: half of a small one.
constexpr double kInodeBytes = 128;

constexpr int kTriesCold = 5, kTriesColdQuick = 3, kTriesWarm = 3;

class StorageMeasurement {
 public:
  StorageMeasurement(StoredReads& reads, std::uint64_t record_bytes, const ProbeLimits& limits, StorageFacts& facts,
                     std::vector<std::string>& doubts)
      : reads_(reads), record_bytes_(record_bytes), limits_(limits), facts_(facts), doubts_(doubts) {}

  void measure_cold() {
    const Way way{true, limits_.pick(kTriesCold, kTriesColdQuick), limits_.seconds(0.6, 0.15)};
    const std::int64_t end_ns = now_ns() + limits_.pick<std::int64_t>(120, 15) * 1'000'000'000;
    facts_.cold_bytes_per_s = measure_in_order(way);
    bool all = true;
    ReadEvidence at_random;
    for (const ReadSize& size : reads_.sizes(record_bytes_)) {
      for (const int depth : kDepths) {
        if (now_ns() < end_ns && !takes_too_long(size, depth)) {
          facts_.cold.push_back(measure_at_random(way, size, depth, at_random));
        } else {
          all = false;
        }
      }
    }
    if (!all) doubts_.emplace_back("there was no time to measure reads of all sizes and depths");
    const std::string caveat = at_random.caveat_of_cold();
    if (!caveat.empty()) doubts_.push_back("the disk's measured speed may be too high: " + caveat);
  }

  void measure_warm() {
    limits_.check();
    const std::uint64_t loaded =
        reads_.load(limits_.pick(std::uint64_t{256} << 20, std::uint64_t{32} << 20), limits_.pick(20.0, 3.0));
    if (loaded == 0) return;
    const Way way{false, kTriesWarm, limits_.seconds(0.15, 0.04)};
    facts_.warm_bytes_per_s = measure_in_order(way);
    ReadEvidence at_random;
    for (const ReadSize& size : reads_.sizes(record_bytes_)) {
      for (const int depth : kDepths) {
        if (!takes_too_much(size, depth)) facts_.warm.push_back(measure_at_random(way, size, depth, at_random));
      }
    }
  }

 private:
  struct Way {
    bool cold = false;
    int tries = 1;
    double seconds = 0;  // of each
  };

  TimedReads read(const Way& way, const StoredRead& what, ReadEvidence& evidence) {
    limits_.check();
    const auto before = reads_.from_device();
    TimedReads reads = way.cold ? reads_.read_cold(what) : reads_.read_warm(what);
    const auto after = reads_.from_device();
    evidence.add({.wanted = static_cast<double>(reads.bytes),
                  .from_device = static_cast<double>(after.value_or(0) - before.value_or(0)),
                  .is_known = before && after});
    return reads;
  }

  static std::string caveat_of(const Way& way, const ReadEvidence& evidence) {
    return way.cold ? evidence.caveat_of_cold() : evidence.caveat_of_warm();
  }

  Figure measure_in_order(const Way& way) {
    ReadEvidence evidence;
    std::vector<double> bytes_per_s;
    bytes_per_s.reserve(static_cast<std::size_t>(way.tries));
    for (int i = 0; i < way.tries; ++i) {
      const TimedReads reads = read(way, reads_.all_in_order(way.seconds), evidence);
      bytes_per_s.push_back(way.cold ? reads.bytes_per_s() : reads.bytes_per_s_at_work());
    }
    Figure figure = figure_of(std::move(bytes_per_s));
    figure.caveat = caveat_of(way, evidence);
    return figure;
  }

  ReadFacts measure_at_random(const Way& way, const ReadSize& size, int depth, ReadEvidence& all) {
    ReadEvidence evidence;
    std::vector<double> reads_per_s, latencies_s;
    for (int i = 0; i < way.tries; ++i) {
      const TimedReads reads = read(way, {.bytes = size.most, .depth = depth, .seconds = way.seconds}, evidence);
      reads_per_s.push_back(way.cold ? reads.reads_per_s() : reads.reads_per_s_at_work());
      latencies_s.insert(latencies_s.end(), reads.latencies_s.begin(), reads.latencies_s.end());
    }
    all.add(evidence);
    ReadFacts facts{.bytes = size.typical,
                    .depth = depth,
                    .reads_per_s = figure_of(std::move(reads_per_s)),
                    .latency_s = figure_of(std::move(latencies_s))};
    facts.reads_per_s.caveat = facts.latency_s.caveat = caveat_of(way, evidence);
    return facts;
  }

  static bool takes_too_much(const ReadSize& size, int depth) {
    return size.typical * static_cast<std::uint64_t>(depth) > kReadMemoryMax;
  }
  bool takes_too_long(const ReadSize& size, int depth) const {
    const double rate = std::max(facts_.cold_bytes_per_s.median, 1.0);
    return takes_too_much(size, depth) || static_cast<double>(size.typical) * depth / rate > limits_.pick(6.0, 1.0);
  }

  StoredReads& reads_;
  const std::uint64_t record_bytes_;
  const ProbeLimits& limits_;
  StorageFacts& facts_;
  std::vector<std::string>& doubts_;
};

/// Files that were not looked at yet, in three parts; then the same files again.
void measure_opens(const std::vector<DataFiles::File>& files, const DeviceReads& device, const ProbeLimits& limits,
                   StorageFacts& facts) {
  constexpr std::size_t kParts = 3;
  const auto most_ns = limits.ns(3, 0.5);
  ThreadPool threads("stoker-probe", kOpensAtOnce, kOpensAtOnce);
  const auto open_all = [&](double& opened) {
    std::vector<double> rates;
    for (std::size_t part = 0; part < std::min(kParts, files.size()); ++part) {
      limits.check();
      const std::size_t begin = part * files.size() / kParts, end = (part + 1) * files.size() / kParts;
      if (begin == end) continue;
      const TimedOpens opens = time_opens(std::span(files).subspan(begin, end - begin), threads, kOpensAtOnce, most_ns);
      opened += static_cast<double>(opens.files);
      rates.push_back(opens.per_s());
    }
    return figure_of(std::move(rates));
  };
  double opened = 0, again = 0;
  const auto before = device.bytes();
  facts.cold_opens_per_s = open_all(opened);
  const auto after = device.bytes();
  facts.warm_opens_per_s = open_all(again);
  if (before && after && static_cast<double>(*after - *before) >= kInodeBytes * opened) return;
  facts.cold_opens_per_s.caveat =
      "the file system had these files in its cache already, which only root can empty, and only for all programs";
}

/// What a control group allows.
void find_limits(const StorageDevice& device, StorageFacts& facts, std::vector<std::string>& doubts) {
  if (!device.disk) return;
  const CgroupLimits limits = cgroup_limits();
  const CgroupLimits::Device* const limit = limits.device(device.disk->major, device.disk->minor);
  if (!limit) return;
  facts.limit_bytes_per_s = limit->read_bytes_per_s;
  facts.limit_reads_per_s = limit->reads_per_s;
  std::vector<std::string> allowed;
  if (limit->read_bytes_per_s) allowed.push_back(format_size(*limit->read_bytes_per_s) + "/s");
  if (limit->reads_per_s) allowed.push_back(fmt::format("{:.0f} reads/s", *limit->reads_per_s));
  doubts.push_back(
      fmt::format("a control group limits this process to {} of {}", fmt::join(allowed, " and "), device.device));
}

}  // namespace

StorageFacts probe_storage(const DataFiles& files, const OpenOptions& open, const ProbeLimits& limits,
                           std::vector<std::string>& doubts) {
  const StorageDevice device = storage_device_of(files.files.front().path);
  StorageFacts facts;
  facts.file_system = device.file_system;
  facts.device = device.device;
  facts.device_class = device.device_class;
  facts.over_network = device.over_network;
  find_limits(device, facts, doubts);
  if (device.in_memory) {
    doubts.push_back(fmt::format("the data lie in memory ({}): no disk was measured", device.file_system));
  } else if (files.bytes() < kFewBytes) {
    doubts.push_back(
        fmt::format("the files that were read have {}: the device may have kept them in a cache of its own",
                    format_size(static_cast<double>(files.bytes()))));
  }
  const FileAccess access = open_file_access({.io = open.io});
  const std::uint64_t record = std::clamp<std::uint64_t>(files.record_bytes, 1, kRecordReadMax);
  std::unique_ptr<StoredReads> reads;
  if (files.loose()) {
    auto loose = std::make_unique<LooseReads>(files, access, device);
    measure_opens(loose->shuffled(), DeviceReads(device), limits, facts);
    reads = std::move(loose);
  } else {
    auto shards = std::make_unique<ShardReads>(files, access, device);
    if (!shards->direct()) {
      doubts.push_back(fmt::format(
          "{} cannot read past the page cache, so the data were dropped from the cache before each measurement instead",
          device.file_system));
    }
    reads = std::move(shards);
  }
  StorageMeasurement measurement(*reads, record, limits, facts, doubts);
  measurement.measure_cold();
  measurement.measure_warm();
  return facts;
}

}  // namespace stoker
