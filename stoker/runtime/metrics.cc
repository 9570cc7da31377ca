#include "stoker/runtime/metrics.h"

#include <iterator>

namespace stoker {
namespace {

constexpr auto kTable = [] {
  using enum MetricKind;
  const MetricSpec others[] = {
      {"samples", kCounter, "samples delivered, padding not counted"},
      {"batches", kCounter, "batches delivered"},
      {"epochs", kCounter, "epochs finished"},
      {"bad_samples", kCounter, "distinct samples met whose bytes were bad"},
      {"first_batch_ns", kGauge, "time from the first epoch's start to its first batch"},
      {"bytes_read", kCounter, "bytes of samples read from storage"},
      {"bytes_fetched", kCounter, "bytes read from storage, those between samples too"},
      {"reads", kCounter, "reads of storage that have ended"},
      {"bytes_to_device", kCounter, "bytes copied to the device"},
      {"memory_wait_ns", kCounter, "worker time spent waiting for memory to decode in"},
      {"jpeg_fallbacks", kCounter, "images of planar recipes that Stoker's JPEG decoder left to libjpeg"},
      {"entry_points_used", kCounter, "images of which only the part needed was decoded, as an index makes possible"},
      {"nvjpeg_images", kCounter, "images that were left to nvJPEG"},
      {"cache_hits", kCounter, "samples whose bytes the cache had"},
      {"bytes_from_cache", kCounter, "bytes of samples that the cache had"},
      {"worker_busy_ns", kCounter, "worker time spent not waiting for something to do"},
      {"worker_idle_ns", kCounter, "worker time spent waiting for something to do"},
      {"device_ns", kCounter, "device time of all kernels, of batches delivered"},
      {"consumer_wait_ns", kCounter, "consumer time spent waiting for a batch"},
      {"consumer_steps", kCounter, "batches after which the consumer has asked for the next one"},
      {"consumer_step_ns", kCounter, "consumer time from getting a batch to asking for the next one"},
      {"consumer_device_steps", kCounter, "batches whose use by a GPU's stream was timed"},
      {"consumer_device_step_ns", kCounter,
       "time of a GPU's stream from taking a batch to letting go of it, of those that were timed"},
      {"reader_stall_ns", kCounter, "reader time spent waiting for room"},
      {"reads_in_flight", kGauge, "reads of storage now under way"},
      {"read_ns", kCounter, "time that reads were under way, summed over reads"},
      {"reads_waiting", kGauge, "reads that now wait to be started: the I/O depth is reached"},
      {"reads_waiting_ns", kCounter, "time that reads waited to be started, summed over reads"},
      {"tickets_blocked", kGauge, "samples drawn that now wait for memory to be read into"},
      {"tickets_blocked_ns", kCounter, "time that samples waited for memory to be read into, summed over samples"},
      {"tickets_ready", kGauge, "samples read that now wait for a worker"},
      {"tickets_ready_ns", kCounter, "time that samples waited for a worker, summed over samples"},
      {"tickets_parked", kGauge, "samples read that now wait for a batch's memory: the consumer is behind"},
      {"tickets_parked_ns", kCounter, "time that samples waited for a batch's memory, summed over samples"},
      {"batches_ready", kGauge, "batches complete and not yet taken"},
      {"batches_ready_ns", kCounter, "time that complete batches waited to be taken, summed over batches"},
      {"read_ahead_bytes", kGauge, "memory now held by samples that wait to be decoded"},
      {"batch_bytes", kGauge, "memory now held by batches"},
      {"device_bytes", kGauge, "the device's memory now held by batches"},
      {"cache_bytes", kGauge, "memory now held by the cache, for all processes that share it"},
      {"threads", kKnob, "workers"},
      {"prefetch", kKnob, "batches made ahead of the consumer"},
      {"io_depth", kKnob, "reads under way at once, at most"},
      {"transfer_index", kKnob, "stages that the CPU does"},
  };
  static_assert(std::size(others) + kStageRuns.size() == kMetrics);
  std::array<MetricSpec, kMetrics> table{};
  for (std::size_t run = 0; run < kStageRuns.size(); ++run) {
    const StageRun& stages = kStageRuns[run];
    table[static_cast<std::size_t>(stage_ns(run))] = {stages.metric, kCounter, stages.doc, stages.name,
                                                      to_string(stages.side)};
  }
  std::size_t place = 0;
  for (const MetricSpec& spec : others) {
    while (!table[place].name.empty()) ++place;
    table[place] = spec;
  }
  return table;
}();

}  // namespace

const std::array<MetricSpec, kMetrics>& metric_table() { return kTable; }

}  // namespace stoker
