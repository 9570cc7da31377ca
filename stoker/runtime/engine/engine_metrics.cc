// What the engine tells of itself.
#include "stoker/runtime/engine/engine.h"

namespace stoker {

Metrics Engine::metrics() const {
  check_home();
  Metrics metrics = metrics_.read();
  if (cache_) metrics[Metric::kCacheBytes] = static_cast<std::int64_t>(cache_->used());
  return metrics;
}

std::string Engine::metrics_address() const {
  check_home();
  const std::lock_guard lock(knobs_mutex_);
  return served_metrics_ ? served_metrics_->address() : std::string();
}

// Tells the metrics how many of everything there are now. The lock is held, and about to be let go of.
void Engine::observe() {
  const std::size_t blocked = board_.refuses() ? located_.size() - located_first_ + substitutes_.size() : 0;
  const auto number = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  MetricCounters::Levels levels;
  const auto set = [&](Level level, std::int64_t count) { levels[static_cast<std::size_t>(level)] = count; };
  set(Level::kReaderWaiting, reader_waits_ ? 1 : 0);
  set(Level::kConsumerWaiting, consumer_waits_ ? 1 : 0);
  set(Level::kReadsInFlight, number(reads_in_flight_));
  set(Level::kReadsWaiting, number(reads_waiting_));
  set(Level::kTicketsBlocked, number(blocked));
  set(Level::kTicketsReady, number(board_.ready_count() - board_.parked_count()));
  set(Level::kTicketsParked, number(board_.parked_count()));
  set(Level::kBatchesReady, board_.sealed_count());
  metrics_.observe(levels);
  metrics_.set(Metric::kReadAheadBytes, number(board_.read_ahead_used()));
  metrics_.set(Metric::kBatchBytes, number(board_.batch_memory().host));
  metrics_.set(Metric::kDeviceBytes, number(board_.batch_memory().device));
  metrics_.set(Metric::kThreads, worker_target_);
  metrics_.set(Metric::kPrefetch, board_.prefetch());
  metrics_.set(Metric::kIoDepth, io_depth_);
  metrics_.set(Metric::kTransferIndex, board_.transfer_index());
}

}  // namespace stoker
