// The engine's knobs, and how it lets itself be tuned.
#include <fmt/format.h>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/threads.h"
#include "stoker/runtime/engine/engine.h"
#include "stoker/runtime/loader_options.h"
#include "stoker/runtime/probe/calibration.h"

namespace stoker {

void Loader::Engine::set(const Knobs& knobs) {
  check_home();
  const std::lock_guard knobs_lock(knobs_mutex_);
  apply(knobs);
  fixed_.take(knobs);
  if (tuning_) tuning_->fix(knobs);
}

void Loader::Engine::turn(const KnobSetting& setting) {
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
void Loader::Engine::check(const Knobs& knobs) const {
  if (knobs.threads) check_threads(*knobs.threads);
  if (knobs.transfer_index) check_transfer_index(*knobs.transfer_index, device_.get());
  if (knobs.io_depth) check_io_depth(*knobs.io_depth);
  if (!knobs.prefetch) return;
  const std::lock_guard lock(mutex_);
  check_prefetch(*knobs.prefetch, board_.batch_bytes(), board_.batch_memory_max());
}

// The lock of the knobs is held.
void Loader::Engine::apply(const Knobs& knobs) {
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
  const std::string index = device_ ? fmt::format(", transfer index {}", transfer_index()) : "";
  log(LogLevel::kDebug, "knobs: threads {}{}, prefetch {}, io depth {}", threads(), index, prefetch(), io_depth());
}

void Loader::Engine::set_threads(int threads) {
  const int before = this->threads();
  scratch_.set_threads(threads);
  try {
    resize_workers(threads);
  } catch (...) {
    scratch_.set_threads(before);
    throw;
  }
}

int Loader::Engine::threads() const {
  check_home();
  const std::lock_guard lock(mutex_);
  return worker_target_;
}

int Loader::Engine::transfer_index() const {
  check_home();
  const std::lock_guard lock(mutex_);
  return board_.transfer_index();
}

int Loader::Engine::io_depth() const {
  check_home();
  const std::lock_guard lock(mutex_);
  return io_depth_;
}

int Loader::Engine::prefetch() const {
  check_home();
  const std::lock_guard lock(mutex_);
  return board_.prefetch();
}

KnobSetting Loader::Engine::knobs() const {
  check_home();
  const std::lock_guard lock(mutex_);
  return {.threads = worker_target_,
          .transfer_index = board_.transfer_index(),
          .prefetch = board_.prefetch(),
          .io_depth = io_depth_};
}

TuningLog Loader::Engine::tuning() const {
  check_home();
  return tuning_ ? tuning_->log() : TuningLog();
}

std::optional<std::vector<CrossingCost>> Loader::Engine::calibrate(const std::function<bool()>& stop) {
  // Whatever comes of it, what was lent goes back.
  struct Loan {
    Engine& engine;
    LoaderBatchBytes bytes{};

    ~Loan() {
      const std::lock_guard lock(engine.mutex_);
      engine.board_.return_lent(bytes);
      engine.wake_worker();
    }
  } loan{*this};
  ScratchGate gate(scratch_, false);
  const auto lend = [&](const LoaderBatchBytes& bytes) {
    const std::lock_guard lock(mutex_);
    if (!board_.lend(bytes)) return false;
    loan.bytes = bytes;
    return true;
  };
  return stoker::calibrate(*dataset_, plan_, board_.device(),
                           {.seed = seed_, .gate = &gate, .limits = limits_, .lend = lend, .stop = stop});
}

// The consumer has got a batch.
void Loader::Engine::tell_tuning(std::int64_t delivered_ns) {
  const std::int64_t wait_ns = std::exchange(waited_ns_, 0);
  const std::int64_t made = made_ - std::exchange(made_before_, made_);
  const std::int64_t before_ns = std::exchange(delivered_at_ns_, delivered_ns);
  if (tuning_ && before_ns != 0) {
    tuning_->delivered({.step_ns = delivered_ns - before_ns - wait_ns, .wait_ns = wait_ns, .made = made});
  }
}

}  // namespace stoker
