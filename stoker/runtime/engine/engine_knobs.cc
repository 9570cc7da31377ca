// The engine's knobs, and what it tells those who turn them.
#include <fmt/format.h>

#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/threads.h"
#include "stoker/runtime/engine/engine.h"

namespace stoker {

void Engine::set(const Knobs& knobs) {
  check_home();
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
  if (knobs.transfer_index) check_transfer_index(*knobs.transfer_index, device_.get());
  if (knobs.io_depth) check_io_depth(*knobs.io_depth);
  if (!knobs.prefetch) return;
  const std::lock_guard lock(mutex_);
  check_prefetch(*knobs.prefetch, board_.batch_bytes(), board_.batch_memory_max());
}

// The lock of the knobs is held.
void Engine::apply(const Knobs& knobs) {
  check(knobs);
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
  }
  // First what memory and the machine may still refuse.
  if (knobs.threads) set_threads(*knobs.threads);
  {
    const std::lock_guard lock(mutex_);
    if (knobs.prefetch) board_.set_prefetch(*knobs.prefetch);
    if (knobs.transfer_index) board_.set_transfer_index(*knobs.transfer_index);
    if (knobs.io_depth) io_depth_ = *knobs.io_depth;
    wake_reader_if_room();
    wake_worker();
    observe();
  }
  const KnobSetting now = this->knobs();
  log(LogLevel::kDebug, "knobs: threads {}{}, prefetch {}, io depth {}", now.threads,
      device_ ? fmt::format(", transfer index {}", now.transfer_index) : "", now.prefetch, now.io_depth);
}

void Engine::set_threads(int threads) {
  const int before = knobs().threads;
  scratch_.set_threads(threads);
  try {
    resize_workers(threads);
  } catch (...) {
    scratch_.set_threads(before);
    throw;
  }
}

KnobSetting Engine::knobs() const {
  check_home();
  const std::lock_guard lock(mutex_);
  return {.threads = worker_target_,
          .transfer_index = board_.transfer_index(),
          .prefetch = board_.prefetch(),
          .io_depth = io_depth_};
}

bool Engine::lend(const LoaderBatchBytes& bytes) {
  const std::lock_guard lock(mutex_);
  return board_.lend(bytes);
}

void Engine::return_lent(const LoaderBatchBytes& bytes) {
  const std::lock_guard lock(mutex_);
  board_.return_lent(bytes);
  wake_worker();
}

// The consumer has got a batch.
void Engine::tell_delivered(std::int64_t delivered_ns) {
  const std::int64_t wait_ns = std::exchange(waited_ns_, 0);
  const std::int64_t made = made_ - std::exchange(made_before_, made_);
  const std::int64_t before_ns = std::exchange(delivered_at_ns_, delivered_ns);
  if (delivered_told_ && before_ns != 0) {
    delivered_told_({.step_ns = delivered_ns - before_ns - wait_ns, .wait_ns = wait_ns, .made = made});
  }
}

}  // namespace stoker
