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
      {"bad_samples", kCounter, "distinct samples whose bytes were bad"},
      {"first_batch_ns", kGauge, "time from the first epoch's start to its first batch"},
      {"bytes_read", kCounter, "bytes of samples read from storage"},
      {"bytes_fetched", kCounter, "bytes read from storage, including those between samples"},
      {"reads", kCounter, "reads from storage that have ended"},
      {"bytes_to_device", kCounter, "bytes copied to the device"},
      {"fields_ns", kCounter, "worker time spent on arrays, tokens, texts, digests and numbers in JSON"},
      {"mix_ns", kCounter, "worker time spent mixing samples"},
      {"function_ns", kCounter, "worker time spent on functions of the recipe's author, with the way to them"},
      {"function_inside_ns", kCounter, "of that, the time in the functions themselves"},
      {"memory_wait_ns", kCounter, "worker time spent waiting for decoding memory"},
      {"jpeg_fallbacks", kCounter,
       "JPEGs that libjpeg decoded, not Stoker's own JPEG decoder; an image counts as often as it is decoded, which is "
       "once for views that share it"},
      {"entry_points_used", kCounter, "images of which only the needed part was decoded, by an index's entry points"},
      {"nvjpeg_images", kCounter, "images that nvJPEG decoded"},
      {"cache_hits", kCounter, "samples whose bytes were in the cache"},
      {"bytes_from_cache", kCounter, "bytes of samples that were in the cache"},
      {"worker_busy_ns", kCounter, "worker time spent working"},
      {"worker_idle_ns", kCounter, "worker time spent waiting for work"},
      {"device_ns", kCounter, "device time for all kernels, of delivered batches"},
      {"consumer_wait_ns", kCounter, "consumer time spent waiting for a batch"},
      {"consumer_wait_reads_ns", kCounter, "of consumer_wait_ns, the part in which workers had to wait for reads, too"},
      {"consumer_wait_workers_ns", kCounter, "of consumer_wait_ns, the part in which workers had enough to do"},
      {"consumer_wait_device_ns", kCounter, "of consumer_wait_ns, the part in which the device was not done yet"},
      {"consumer_steps", kCounter, "batches after which the consumer has asked for the next one"},
      {"consumer_step_ns", kCounter, "consumer time from getting a batch to asking for the next one"},
      {"consumer_device_steps", kCounter, "batches for which the use by a GPU's stream was timed"},
      {"consumer_device_step_ns", kCounter,
       "time of a GPU's stream from taking a batch to releasing it, of timed batches"},
      {"reader_stall_ns", kCounter, "reader time spent waiting for read-ahead memory"},
      {"reads_in_flight", kGauge, "reads from storage now under way"},
      {"read_ns", kCounter, "time that reads were under way, summed over reads"},
      {"reads_waiting", kGauge, "reads now waiting to be started: the I/O depth is reached"},
      {"reads_waiting_ns", kCounter, "time that reads waited to be started, summed over reads"},
      {"tickets_blocked", kGauge, "drawn samples now waiting for memory to be read into"},
      {"tickets_blocked_ns", kCounter, "time that samples waited for memory to be read into, summed over samples"},
      {"tickets_ready", kGauge, "read samples now waiting for a worker"},
      {"tickets_ready_ns", kCounter, "time that samples waited for a worker, summed over samples"},
      {"tickets_parked", kGauge, "read samples now waiting for a batch's memory: the consumer is too slow"},
      {"tickets_parked_ns", kCounter, "time that samples waited for a batch's memory, summed over samples"},
      {"batches_ready", kGauge, "complete batches not yet taken"},
      {"batches_ready_ns", kCounter, "time that complete batches waited to be taken, summed over batches"},
      {"disk_bytes", kCounter, "of bytes_fetched, those from local storage"},
      {"disk_reads", kCounter, "of reads, those from local storage"},
      {"disk_ns", kCounter, "time during which any read from local storage was under way"},
      {"store_requests", kCounter,
       "requests to stores over a network since the data set was opened, with those that repeat another"},
      {"store_retries", kCounter, "of store_requests, those that repeat one that failed"},
      {"store_hedged", kCounter, "of store_requests, those sent because another was late"},
      {"store_bytes", kCounter, "bytes that stores over a network sent and that were used"},
      {"store_ns", kCounter, "time during which any request to a store over a network was under way"},
      {.name = "store_first_byte_p50_ns",
       .kind = kGauge,
       .doc = "time that half of the answers of stores took to begin, at most",
       .quantile = "0.5",
       .quantity = "store_first_byte_ns"},
      {.name = "store_first_byte_p99_ns",
       .kind = kGauge,
       .doc = "time that 99 in 100 answers of stores took to begin, at most",
       .quantile = "0.99",
       .quantity = "store_first_byte_ns"},
      {"read_ahead_bytes", kGauge, "memory now held by samples waiting to be decoded"},
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
