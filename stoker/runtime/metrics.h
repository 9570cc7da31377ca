// What the loader measures of itself: one fixed table, filled without locks. `run`, the doctor and exporters read it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace stoker {

enum class Metric : std::uint8_t {
  kSamples,          // delivered to the consumer, padding not counted
  kBatches,          // delivered
  kEpochs,           // finished
  kBytesRead,        // from storage, of samples
  kBytesFetched,     // from storage, with what was read between them
  kReadNs,           // storage: from asking to having, summed over reads
  kDecodeNs,         // workers: reading headers and decoding pixels
  kTransformNs,      // workers: geometry and color
  kWorkerIdleNs,     // workers waiting for something to do
  kReaderStallNs,    // the reader waiting for memory
  kConsumerWaitNs,   // the consumer waiting for a batch
  kFirstBatchNs,     // from the start of the first epoch to its first batch
  kBadSamples,       // distinct samples whose bytes were bad
  kJpegFallbacks,    // images of planar recipes that the own JPEG decoder left to libjpeg
  kEntryPointsUsed,  // images decoded with the entry points that an index has
  kNvjpegImages,     // images left to nvJPEG
  kCacheHits,        // samples whose bytes the cache had
  kBytesToDevice,    // copied to the device
  kDeviceNs,         // the device's kernels at work, of batches delivered
  kReadAheadBytes,   // now held by encoded samples
  kBatchBytes,       // now held by batches
  kDeviceBytes,      // of the device's memory, likewise
  kCacheBytes,       // now held by the cache, for all processes that share it
  kCount,
};

enum class MetricKind : std::uint8_t { kCounter, kGauge };

struct MetricSpec {
  std::string_view name;  // "samples", "bytes_read", "decode_ns", ...
  MetricKind kind;
  std::string_view doc;
};

/// By Metric.
const std::array<MetricSpec, static_cast<std::size_t>(Metric::kCount)>& metric_table();

/// A reading of the table at one moment.
struct Metrics {
  std::array<std::int64_t, static_cast<std::size_t>(Metric::kCount)> values{};

  std::int64_t operator[](Metric metric) const { return values[static_cast<std::size_t>(metric)]; }
};

/// The live table. Threads: any.
class MetricCounters {
 public:
  void add(Metric metric, std::int64_t amount) { at(metric).fetch_add(amount, std::memory_order_relaxed); }
  void set(Metric metric, std::int64_t value) { at(metric).store(value, std::memory_order_relaxed); }
  Metrics read() const;

 private:
  std::atomic<std::int64_t>& at(Metric metric) { return values_[static_cast<std::size_t>(metric)]; }

  std::array<std::atomic<std::int64_t>, static_cast<std::size_t>(Metric::kCount)> values_{};
};

}  // namespace stoker
