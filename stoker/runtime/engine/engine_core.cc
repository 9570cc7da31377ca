#include "stoker/runtime/engine/engine_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/machine.h"
#include "stoker/plan/data_check.h"
#include "stoker/runtime/engine/board_options.h"
#include "stoker/runtime/open_stores.h"
#include "stoker/runtime/thread_pool.h"

namespace stoker {
namespace {

Plan plan_for(const Dataset& dataset, Recipe recipe) {
  Plan plan(std::move(recipe));
  check_suits(plan, dataset);
  return plan;
}

std::unique_ptr<const BatchMixer> mixer_of(const Plan& plan, const ResolvedOptions& options) {
  if (plan.mixing().empty()) return nullptr;
  const OrderOptions& order = options.order;
  return std::make_unique<const BatchMixer>(
      plan, MixOrder{.seed = order.seed, .global_batch = order.global_batch, .repeats = order.repeats}, options.batch);
}

// An epoch of a rank need not use all that its host has kept: others read it, or it is drawn seldom.
int unused_epochs(const OrderOptions& order, int world) {
  constexpr std::int64_t kShares = 3;  // with so many epochs for each share, all but 5% of the samples come
  if (!order.mixture.empty()) return 0;
  const std::int64_t shares = world * order.batch_repeats;
  return static_cast<int>(shares == 1 ? 1 : std::min(kShares * shares, std::int64_t{1} << 20));
}

std::unique_ptr<DiskCache> open_disk_cache(const Dataset& dataset, const ResolvedOptions& options,
                                           std::uint64_t write_bytes) {
  if (options.given.cache != CacheKind::kDisk) return nullptr;
  FileAccess access = open_file_access({.direct = dataset.is_direct()});
  access.open_files = std::make_shared<OpenFiles>(std::max(1, OpenFiles::default_capacity() / 4));
  return std::make_unique<DiskCache>(DiskCacheOptions{.folder = options.given.cache_folder,
                                                      .bytes_max = options.given.cache_bytes_max,
                                                      .write_bytes_max = write_bytes,
                                                      .unused_epochs = unused_epochs(options.order, options.world)},
                                     std::move(access), make_shared_at_home<ThreadPool>("stoker-cache", 1, 1));
}

std::unique_ptr<Trace> open_trace(const ResolvedOptions& options) {
  if (options.given.trace.empty()) return nullptr;
  const std::string& name = options.given.name;
  return std::make_unique<Trace>(
      TraceOptions{.path = options.given.trace,
                   .process = fmt::format("stoker{}{}, rank {}", name.empty() ? "" : " ", name, options.rank),
                   .rank = options.rank});
}

void add_traffic(const StoreTraffic& traffic, Metrics& metrics) {
  metrics[Metric::kStoreRequests] = traffic.requests;
  metrics[Metric::kStoreRetries] = traffic.retries;
  metrics[Metric::kStoreHedged] = traffic.hedges;
  metrics[Metric::kStoreBytes] = traffic.bytes;
  metrics[Metric::kStoreNs] = traffic.busy_ns;
  metrics[Metric::kStoreFirstByteP50Ns] = traffic.first_bytes.quantile_ns(0.5);
  metrics[Metric::kStoreFirstByteP99Ns] = traffic.first_bytes.quantile_ns(0.99);
}

}  // namespace

EngineCore::EngineCore(std::shared_ptr<const Dataset> data, Recipe recipe, const ResolvedOptions& options)
    : dataset(std::move(data)),
      plan(plan_for(*dataset, std::move(recipe))),
      device(options.given.device),
      pinned(options.given.pin_memory ? open_pinned_host() : nullptr),
      cores(options.cores),
      limits(options.given.limits),
      bad_sample(options.given.bad_sample),
      trace(open_trace(options)),
      quarantine(options.given.quarantine.empty() ? nullptr : std::make_shared<Quarantine>(options.given.quarantine)),
      memory(plan_memory(*dataset, plan, options)),
      enough_memory(dataset, plan, options),
      cache_share(stoker::cache_share(*dataset, plan.fields(), options.world, memory.cache)),
      cache(cache_share ? std::make_shared<SampleCache>(cache_share->take(), dataset->size()) : nullptr),
      disk_cache(open_disk_cache(*dataset, options, memory.disk_cache)),
      entry_points(memory.entry_points > 0 ? std::make_unique<KeptChunks>(memory.entry_points) : nullptr),
      scratch(memory.scratch, options.knobs.threads, usable_cores(),
              [this](std::uint64_t bytes) { return enough_memory.text({.decode_bytes = bytes}); }),
      mixer(mixer_of(plan, options)),
      steps(batch_steps(plan.outputs(), device.get(), metrics)),
      meters(dataset->meters()),
      out_of_memory(
          std::make_exception_ptr(Error(ErrorKind::kMemory, "the machine has no memory left for the loader"))),
      board(*dataset, options_of_board(options), *options.given.allocator),
      io_depth(options.knobs.io_depth),
      worker_target(options.knobs.threads) {}

BoardOptions EngineCore::options_of_board(const ResolvedOptions& options) const {
  BoardOptions of_board = board_options(*dataset, plan, options, memory);
  of_board.locator.quarantine = quarantine;
  of_board.locator.cache = cache;
  of_board.locator.disk_cache = disk_cache.get();
  of_board.locator.entry_points = entry_points.get();
  of_board.batches.device.pinned = pinned.get();
  of_board.batches.device.mixer = mixer.get();
  of_board.tickets.mix_block = mixer ? mixer->block() : 0;
  of_board.tickets.has_calls = !plan.kept_views().empty();
  of_board.tickets.has_steps = !steps.empty();
  of_board.locator.enough_memory = [this](std::uint64_t bytes) { return enough_memory.text({.sample_bytes = bytes}); };
  return of_board;
}

Metrics EngineCore::read_metrics() const {
  Metrics reading = metrics.read();
  if (cache) reading[Metric::kCacheBytes] = static_cast<std::int64_t>(cache->used());
  if (!meters.empty()) add_traffic(traffic_of(meters), reading);
  return reading;
}

void EngineCore::check_home() const {
  if (!home.here()) fail(ErrorKind::kClosed, "the loader was made before this process was forked; make one here");
}

void EngineCore::check_open() const {
  if (closing) fail(ErrorKind::kClosed, "the loader is closed");
  if (interrupted) fail(ErrorKind::kClosed, "the loader was interrupted");
}

// Out of memory is all that is expected here.
void EngineCore::fail_with(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    failure = out_of_memory;
  } catch (...) {
    failure = error;
  }
  consumer_wakes.notify_all();
}

WorkerBed* EngineCore::call_worker() {
  const TicketBoard& tickets = board.tickets;
  return crew.call(tickets.workable_count(), tickets.has_written() || tickets.may_grant());
}

void EngineCore::wake_worker() {
  if (WorkerBed* const bed = call_worker()) bed->wake.notify_one();
}

void EngineCore::wake_all_workers() {
  while (WorkerBed* const bed = crew.call_any()) bed->wake.notify_one();
}

void EngineCore::observe() {
  const auto number = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  MetricCounters::Levels levels;
  const auto set = [&](Level level, std::int64_t count) { levels[static_cast<std::size_t>(level)] = count; };
  set(Level::kReaderWaiting, reader_waits ? 1 : 0);
  const bool for_batch = consumer_waits == ConsumerWait::kBatch, for_device = consumer_waits == ConsumerWait::kDevice;
  const bool for_reads = for_batch && board.tickets.front_needs() == BatchNeed::kReads;
  set(Level::kConsumerWaiting, for_batch || for_device ? 1 : 0);
  set(Level::kConsumerWaitsForReads, for_reads ? 1 : 0);
  set(Level::kConsumerWaitsForWorkers, for_batch && !for_reads ? 1 : 0);
  set(Level::kConsumerWaitsForDevice, for_device ? 1 : 0);
  set(Level::kReadsInFlight, number(reads_in_flight));
  set(Level::kDiskReading, disk_reads_in_flight > 0 ? 1 : 0);
  set(Level::kReadsWaiting, number(reads_waiting));
  set(Level::kTicketsBlocked, number(board.read_ahead.refuses() ? located : 0));
  set(Level::kTicketsReady, number(board.tickets.workable_count()));
  set(Level::kTicketsParked, number(board.tickets.parked_count()));
  set(Level::kBatchesReady, board.tickets.sealed_count());
  metrics.observe(levels);
  metrics.set(Metric::kReadAheadBytes, number(board.read_ahead.used()));
  metrics.set(Metric::kBatchBytes, number(board.batches.memory().host));
  metrics.set(Metric::kDeviceBytes, number(board.batches.memory().device));
  metrics.set(Metric::kThreads, worker_target);
  metrics.set(Metric::kPrefetch, board.tickets.prefetch());
  metrics.set(Metric::kIoDepth, io_depth);
  metrics.set(Metric::kTransferIndex, board.batches.transfer_index());
}

}  // namespace stoker
