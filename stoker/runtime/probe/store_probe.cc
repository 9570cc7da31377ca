#include "stoker/runtime/probe/store_probe.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/storage/slow_downs.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

// A request of so few bytes takes no longer than one of none.
constexpr std::uint64_t kSmallBytes = 4 << 10;
constexpr int kFewAtOnce = 16;  // that do not wait for each other
constexpr std::int64_t kLatenciesLeast = 64, kLatenciesMost = 512;
constexpr std::int64_t kLatenciesNs = 700'000'000;

constexpr std::uint64_t kConnectionBytesFirst = 64 << 10, kConnectionBytesMost = 4 << 20;
constexpr std::int64_t kConnectionEnoughNs = 150'000'000;

// More than any transport has under way: the others wait in line, so that none of its places is ever free.
constexpr std::size_t kManyAtOnce = 1024;
constexpr std::int64_t kRequestsMost = 8192;
constexpr double kRequestsS = 0.8;

constexpr std::uint64_t kLinkRangeBytes = 256 << 10, kLinkBytesMost = 128 << 20;
constexpr std::int64_t kLinkEnoughNs = 400'000'000;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// An object of the store that some samples lie in: a shard, or a loose file.
struct StoreObject {
  Source* source;
  std::string part;
  std::uint64_t size;
  std::uint64_t next = 0;  // of its bytes, to be read
};

std::vector<StoreObject> objects_of(const Dataset& dataset, std::span<const std::int64_t> samples) {
  dataset.prepare(samples);
  std::map<std::pair<Source*, std::string>, StoreObject> objects;
  SampleRow row;
  for (const std::int64_t sample : samples) {
    dataset.read(sample, row);
    if (!row.source || !row.source->is_remote()) continue;
    for (const SampleField& field : row.fields) {
      const auto key = std::pair(row.source, std::string(field.part));
      if (objects.contains(key)) continue;
      const std::uint64_t size = field.part.empty() ? row.source->size() : field.length;
      if (size > 0) objects.emplace(key, StoreObject{row.source, key.second, size});
    }
  }
  std::vector<StoreObject> list;
  list.reserve(objects.size());
  for (auto& [key, object] : objects) list.push_back(std::move(object));
  return list;
}

/// Reads ranges of the objects in turn, one after another in each, and drops their bytes.
class RangeReads {
 public:
  explicit RangeReads(const Dataset& dataset, std::vector<StoreObject> objects)
      : meters_(dataset.meters()), objects_(std::move(objects)) {
    // The bytes are not looked at, so that reads share their memory: those of one source, which one thread fills.
    for (const StoreObject& object : objects_) memory_[object.source].resize(kConnectionBytesMost);
  }

  struct Result {
    std::uint64_t bytes = 0;
    std::int64_t ns = 0, cpu_ns = 0;
    int under_way = 0;  // requests, at most
    StoreTraffic traffic;
  };
  /// So many ranges, up to `at_once` at a time. No more are begun once that took `most_ns`, but for `least`. Throws the
  /// error of the first that fails, once all have ended.
  Result read(std::int64_t count, std::uint64_t bytes, std::size_t at_once, std::int64_t most_ns = INT64_MAX,
              std::int64_t least = 0);

  StoreTraffic traffic() const { return traffic_of(meters_); }
  std::uint64_t gap_worth_reading() const { return objects_.front().source->gap_worth_reading(); }

 private:
  struct Range {
    RangeReads* reads = nullptr;
    ReadRequest request;
    MutableBytes into;
  };

  void start(Range& range, std::uint64_t bytes, Result& result);
  static void ended(ReadRequest& request) noexcept;
  Range& free_range(std::size_t at_once, Result& result, const StoreTraffic& before);
  void wait_for_all();

  const TrafficMeters meters_;
  std::vector<StoreObject> objects_;
  std::map<Source*, std::vector<std::uint8_t>> memory_;
  std::size_t turn_ = 0;

  std::deque<Range> ranges_;
  std::mutex mutex_;
  std::condition_variable one_ended_;
  std::vector<Range*> free_;
  std::exception_ptr error_;
};

void RangeReads::start(Range& range, std::uint64_t bytes, Result& result) {
  StoreObject& object = objects_[turn_++ % objects_.size()];
  const std::uint64_t length = std::min(bytes, object.size);
  if (object.next + length > object.size) object.next = 0;
  range.into = MutableBytes(memory_.at(object.source)).first(static_cast<std::size_t>(length));
  range.request.part = object.part;
  range.request.offset = std::exchange(object.next, object.next + length);
  range.request.into = Pieces(&range.into, 1);
  range.request.error = nullptr;
  range.request.done = &ended;
  range.request.context = &range;
  result.bytes += length;
  object.source->start(range.request);
}

void RangeReads::ended(ReadRequest& request) noexcept {
  Range& range = *static_cast<Range*>(request.context);
  RangeReads& reads = *range.reads;
  const std::lock_guard lock(reads.mutex_);
  if (request.error && !reads.error_) reads.error_ = request.error;
  reads.free_.push_back(&range);
  reads.one_ended_.notify_one();
}

RangeReads::Range& RangeReads::free_range(std::size_t at_once, Result& result, const StoreTraffic& before) {
  std::unique_lock lock(mutex_);
  if (free_.empty() && ranges_.size() < at_once) {
    free_.reserve(ranges_.size() + 1);  // ended() must not allocate
    Range& fresh = ranges_.emplace_back();
    fresh.reads = this;
    return fresh;
  }
  one_ended_.wait(lock, [&] { return ranges_.size() - free_.size() < at_once; });
  Range& range = *free_.back();
  free_.pop_back();
  lock.unlock();
  StoreTraffic now = traffic();
  now -= before;
  const std::int64_t unanswered = now.requests - now.retries - now.hedges - now.first_bytes.total();
  result.under_way = std::max(result.under_way, static_cast<int>(unanswered));
  return range;
}

void RangeReads::wait_for_all() {
  std::unique_lock lock(mutex_);
  one_ended_.wait(lock, [&] { return free_.size() == ranges_.size(); });
}

RangeReads::Result RangeReads::read(std::int64_t count, std::uint64_t bytes, std::size_t at_once, std::int64_t most_ns,
                                    std::int64_t least) {
  Result result;
  const StoreTraffic before = traffic();
  const std::int64_t began_ns = now_ns(), cpu_before_ns = process_cpu_ns();
  for (std::int64_t i = 0; i < count && (i < least || now_ns() - began_ns < most_ns); ++i) {
    start(free_range(at_once, result, before), bytes, result);
  }
  wait_for_all();
  result.ns = std::max<std::int64_t>(now_ns() - began_ns, 1);
  result.cpu_ns = process_cpu_ns() - cpu_before_ns;
  result.traffic = traffic();
  result.traffic -= before;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return result;
}

void measure_latency(RangeReads& reads, StoreRates& rates) {
  reads.read(kFewAtOnce, kSmallBytes, kFewAtOnce);  // connects
  const RangeReads::Result result = reads.read(kLatenciesMost, kSmallBytes, kFewAtOnce, kLatenciesNs, kLatenciesLeast);
  rates.first_byte_s_p50 = seconds(result.traffic.first_bytes.quantile_ns(0.5));
  rates.first_byte_s_p99 = seconds(result.traffic.first_bytes.quantile_ns(0.99));
}

/// By one request at a time, of more and more bytes, until one takes long enough to tell.
void measure_connection(RangeReads& reads, StoreRates& rates) {
  for (std::uint64_t bytes = kConnectionBytesFirst; bytes <= kConnectionBytesMost; bytes *= 2) {
    const RangeReads::Result result = reads.read(1, bytes, 1);
    const double body_s = seconds(std::max<std::int64_t>(result.traffic.body_ns, 1));
    rates.connection_bytes_per_s = static_cast<double>(result.traffic.bytes) / body_s;
    if (result.traffic.body_ns > kConnectionEnoughNs || result.bytes < bytes) return;
  }
}

/// By as many large ranges at a time as it takes.
void measure_link(RangeReads& reads, StoreRates& rates) {
  for (std::uint64_t bytes = 4 * kLinkRangeBytes; bytes <= kLinkBytesMost; bytes *= 2) {
    const auto count = static_cast<std::int64_t>(bytes / kLinkRangeBytes);
    const RangeReads::Result result = reads.read(count, kLinkRangeBytes, kManyAtOnce);
    // The first answer's time passes before anything comes.
    const double took_s = seconds(result.ns), body_s = std::max(took_s - rates.first_byte_s_p50, took_s / 2);
    rates.link_bytes_per_s = static_cast<double>(result.bytes) / body_s;
    rates.cpu_s_per_byte = seconds(result.cpu_ns) / static_cast<double>(result.bytes);
    if (result.ns > kLinkEnoughNs) return;
  }
}

/// A transport comes to its most requests at a time answer by answer, so that it is made to before. Then the requests
/// are some times as many as it has under way: their answers come in waves, where a store is far away, and part of a
/// wave takes as long as all of it.
void measure_requests(RangeReads& reads, StoreRates& rates) {
  const auto wave_ns = static_cast<std::int64_t>(rates.first_byte_s_p50 * 1e9);
  const RangeReads::Result before = reads.read(kRequestsMost, kSmallBytes, kManyAtOnce, 3 * wave_ns + 100'000'000);
  const auto wave = std::int64_t{std::max(before.under_way, 1)};
  const double per_s = static_cast<double>(before.traffic.first_bytes.total()) / seconds(before.ns);
  const auto wanted = std::min(static_cast<std::int64_t>(kRequestsS * per_s), kRequestsMost);
  const std::int64_t waves = std::max<std::int64_t>(wanted / wave, 2);
  const RangeReads::Result result = reads.read(waves * wave, kSmallBytes, kManyAtOnce);
  rates.requests_per_s = static_cast<double>(waves * wave) / seconds(result.ns);
  rates.cpu_s_per_request = seconds(result.cpu_ns) / static_cast<double>(waves * wave);
  rates.requests_at_once = std::max(result.under_way, before.under_way);
}

}  // namespace

std::optional<StoreRates> measure_store(const Dataset& dataset, std::span<const std::int64_t> samples) {
  std::vector<StoreObject> objects = objects_of(dataset, samples);
  if (objects.empty()) return std::nullopt;
  RangeReads reads(dataset, std::move(objects));
  const StoreTraffic before = reads.traffic();
  const std::int64_t slow_downs_before = slow_downs_of(dataset.meters());
  StoreRates rates;
  measure_latency(reads, rates);
  measure_connection(reads, rates);
  measure_link(reads, rates);
  measure_requests(reads, rates);
  rates.gap_worth_reading = reads.gap_worth_reading();
  StoreTraffic traffic = reads.traffic();
  traffic -= before;
  rates.bytes = static_cast<std::uint64_t>(traffic.bytes);
  rates.requests = traffic.requests;
  rates.slow_downs = slow_downs_of(dataset.meters()) - slow_downs_before;
  return rates;
}

}  // namespace stoker
