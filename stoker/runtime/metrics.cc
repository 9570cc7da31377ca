#include "stoker/runtime/metrics.h"

namespace stoker {

const std::array<MetricSpec, static_cast<std::size_t>(Metric::kCount)>& metric_table() {
  using enum MetricKind;
  static constexpr std::array<MetricSpec, static_cast<std::size_t>(Metric::kCount)> kTable = {{
      {"samples", kCounter, "samples delivered, padding not counted"},
      {"batches", kCounter, "batches delivered"},
      {"epochs", kCounter, "epochs finished"},
      {"bytes_read", kCounter, "bytes of samples read from storage"},
      {"bytes_fetched", kCounter, "bytes read from storage, those between samples too"},
      {"read_ns", kCounter, "time from asking for bytes to having them, summed over reads"},
      {"decode_ns", kCounter, "worker time spent on headers and pixels"},
      {"transform_ns", kCounter, "worker time spent on geometry and color"},
      {"worker_idle_ns", kCounter, "worker time spent waiting for something to do"},
      {"reader_stall_ns", kCounter, "reader time spent waiting for room"},
      {"consumer_wait_ns", kCounter, "consumer time spent waiting for a batch"},
      {"first_batch_ns", kGauge, "time from the first epoch's start to its first batch"},
      {"bad_samples", kCounter, "samples met whose bytes were bad"},
      {"jpeg_fallbacks", kCounter, "images of planar recipes that Stoker's JPEG decoder left to libjpeg"},
      {"entry_points_used", kCounter, "images of which only the part needed was decoded, as an index makes possible"},
      {"nvjpeg_images", kCounter, "images that were left to nvJPEG"},
      {"cache_hits", kCounter, "samples whose bytes the cache had"},
      {"bytes_to_device", kCounter, "bytes copied to the device"},
      {"device_ns", kCounter, "time that the device's kernels took"},
      {"read_ahead_bytes", kGauge, "memory now held by samples that wait to be decoded"},
      {"batch_bytes", kGauge, "memory now held by batches"},
      {"device_bytes", kGauge, "the device's memory now held by batches"},
      {"cache_bytes", kGauge, "memory now held by the cache, for all processes that share it"},
  }};
  return kTable;
}

Metrics MetricCounters::read() const {
  Metrics metrics;
  for (std::size_t i = 0; i < values_.size(); ++i) metrics.values[i] = values_[i].load(std::memory_order_relaxed);
  return metrics;
}

}  // namespace stoker
