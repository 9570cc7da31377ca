#include "stoker/runtime/engine/engine.h"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/threads.h"

namespace stoker {

Engine::Engine(std::shared_ptr<const Dataset> dataset, Recipe recipe, const ResolvedOptions& options)
    : metrics_address_(options.metrics_address),
      dashboard_address_(options.dashboard_address),
      name_(options.given.name),
      rank_(options.rank),
      core_(std::move(dataset), std::move(recipe), options),
      reader_(core_, options.core_count),
      workers_(core_, reader_, options.order.seed),
      consumer_(core_, reader_, options),
      fixed_(options.fixed) {}

void Engine::start_threads() {
  const std::lock_guard lock(knobs_mutex_);
  if (!core_.cores.account.empty()) log(LogLevel::kDebug, "{}", core_.cores.account);
  const auto serve = [this](const std::string& address, std::optional<ServedMetrics>& served) {
    if (!address.empty()) served.emplace(parse_metrics_address(address), name_, rank_, [this] { return metrics(); });
  };
  serve(metrics_address_, served_metrics_);
  if (dashboard_address_ != metrics_address_) serve(dashboard_address_, served_dashboard_);
  reader_.start();
  workers_.resize(core_.worker_target);
}

void Engine::close() {
  if (!core_.home.here()) return;
  const std::lock_guard knobs_lock(knobs_mutex_);
  served_metrics_.reset();
  served_dashboard_.reset();
  {
    const std::lock_guard lock(core_.mutex);
    core_.closing = true;
    core_.scratch.close();
    core_.reader_wakes.notify_all();
    core_.wake_all_workers();
    core_.consumer_wakes.notify_all();
  }
  core_.stop_reads.request_stop();
  reader_.join();
  workers_.join();
  consumer_.close();
  write_trace();
  if (core_.disk_cache) core_.disk_cache->close();
}

// A trace that cannot be written is no reason not to close.
void Engine::write_trace() noexcept {
  if (!core_.trace || trace_is_over_.exchange(true)) return;
  try {
    const std::lock_guard lock(core_.mutex);  // the consumer may release batches meanwhile
    core_.trace->write();
    return;
  } catch (const Error& error) {
    log(LogLevel::kError, "the trace was not written: {}", error.message());
  } catch (const std::bad_alloc&) {
    log(LogLevel::kError, "the trace was not written: the machine has no memory left");
  }
  lost_trace_ = true;
}

void Engine::check_open() const {
  core_.check_home();
  const std::lock_guard lock(core_.mutex);
  core_.check_open();
}

void Engine::interrupt() {
  core_.check_home();
  const std::lock_guard lock(core_.mutex);
  core_.interrupted = true;
  core_.consumer_wakes.notify_all();
}

Metrics Engine::metrics() const {
  core_.check_home();
  return core_.read_metrics();
}

std::optional<DiskCacheCounters> Engine::disk_cache() const {
  core_.check_home();
  return core_.disk_cache ? std::optional(core_.disk_cache->counters()) : std::nullopt;
}

std::string Engine::metrics_address() const {
  core_.check_home();
  const std::lock_guard lock(knobs_mutex_);
  return served_metrics_ ? served_metrics_->address() : std::string();
}

std::string Engine::dashboard_address() const {
  if (dashboard_address_ == metrics_address_) return metrics_address();
  core_.check_home();
  const std::lock_guard lock(knobs_mutex_);
  return served_dashboard_ ? served_dashboard_->address() : std::string();
}

const EpochReports& Engine::reports() const {
  core_.check_home();
  return consumer_.reports();
}

void Engine::set(const Knobs& knobs) {
  core_.check_home();
  const std::lock_guard knobs_lock(knobs_mutex_);
  apply(knobs);
  fixed_.take(knobs);
}

void Engine::turn(const KnobSetting& setting) {
  const std::lock_guard knobs_lock(knobs_mutex_);
  const KnobSetting now = knobs();
  Knobs changed;
  const auto change = [&](int from, int to, const std::optional<int>& fixed, std::optional<int>& into) {
    if (from != to && !fixed) into = to;
  };
  change(now.threads, setting.threads, fixed_.threads, changed.threads);
  change(now.prefetch, setting.prefetch, fixed_.prefetch, changed.prefetch);
  change(now.transfer_index, setting.transfer_index, fixed_.transfer_index, changed.transfer_index);
  change(now.io_depth, setting.io_depth, fixed_.io_depth, changed.io_depth);
  apply(changed);
}

// All of them, before any is changed. The lock of the knobs is held.
void Engine::check(const Knobs& knobs) const {
  if (knobs.threads) check_threads(*knobs.threads);
  if (knobs.transfer_index) check_transfer_index(*knobs.transfer_index, core_.device.get());
  if (knobs.io_depth) check_io_depth(*knobs.io_depth);
  if (!knobs.prefetch) return;
  const std::lock_guard lock(core_.mutex);
  check_prefetch(*knobs.prefetch, core_.board.batches.bytes(), core_.board.batches.shared(),
                 core_.board.batches.memory_max());
}

// The lock of the knobs is held.
void Engine::apply(const Knobs& knobs) {
  check(knobs);
  {
    const std::lock_guard lock(core_.mutex);
    if (core_.closing) return;
  }
  // First what memory and the machine may still refuse.
  if (knobs.threads) set_threads(*knobs.threads);
  {
    const std::lock_guard lock(core_.mutex);
    if (knobs.prefetch) core_.board.tickets.set_prefetch(*knobs.prefetch);
    if (knobs.transfer_index) core_.board.batches.set_transfer_index(*knobs.transfer_index);
    if (knobs.io_depth) core_.io_depth = *knobs.io_depth;
    reader_.wake_if_room();
    core_.wake_worker();
    core_.observe();
  }
  const KnobSetting now = this->knobs();
  log(LogLevel::kDebug, "knobs: threads {}{}, prefetch {}, io depth {}", now.threads,
      core_.device ? fmt::format(", transfer index {}", now.transfer_index) : "", now.prefetch, now.io_depth);
}

void Engine::set_threads(int threads) {
  const int before = knobs().threads;
  core_.scratch.set_threads(threads);
  try {
    workers_.resize(threads);
  } catch (...) {
    core_.scratch.set_threads(before);
    throw;
  }
}

KnobSetting Engine::knobs() const {
  core_.check_home();
  const std::lock_guard lock(core_.mutex);
  return {.threads = core_.worker_target,
          .transfer_index = core_.board.batches.transfer_index(),
          .prefetch = core_.board.tickets.prefetch(),
          .io_depth = core_.io_depth};
}

bool Engine::lend(const LoaderBatchBytes& bytes) {
  const std::lock_guard lock(core_.mutex);
  return core_.board.batches.lend(bytes, core_.board.tickets.prefetch());
}

void Engine::release_lent(const LoaderBatchBytes& bytes) {
  const std::lock_guard lock(core_.mutex);
  core_.board.batches.release_lent(bytes);
  core_.wake_worker();
}

}  // namespace stoker
