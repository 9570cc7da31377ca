// The loader: a running plan. It turns a data set and a recipe into batches, in order, the same for any number of
// threads. Threads: one consumer; functions that other threads may call say so.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/format/bad_sample.h"
#include "stoker/format/dataset.h"
#include "stoker/order/epoch_order.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader_options.h"
#include "stoker/storage/cache/cache_counters.h"
#include "stoker/tensor/batch.h"
#include "stoker/tuner/knob_setting.h"

namespace stoker {

struct LoaderReport;
struct Metrics;
struct TuningLog;

/// Global batches before `batch` of `epoch` were seen by the consumer; `batch` may be the epoch's end.
struct LoaderPosition {
  std::int64_t epoch = 0, batch = 0;

  friend bool operator==(const LoaderPosition&, const LoaderPosition&) = default;
};

/// A bad sample as a batch met it; `known`: the quarantine list had it from the beginning.
struct MetBadSample {
  BadSample sample;
  bool known = false;
};

/// A consumer's reference to a batch: when the last reference is released, the memory is reused.
using BatchPtr = std::shared_ptr<const Batch>;

/// After fork() a child's copy is inert: closing and destroying it do nothing, all other calls throw kClosed.
class Loader {
 public:
  /// Starts the threads; reading begins with the first epoch. Throws kUsage for invalid options and kMemory for a
  /// budget that is too small, naming the least that works.
  Loader(std::shared_ptr<const Dataset> dataset, Recipe recipe, LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  const Dataset& dataset() const;
  const Recipe& recipe() const;
  /// Of the largest batch, where the recipe gives batches several sizes.
  std::vector<OutputSpec> outputs() const;
  /// Of this rank. If the tail is kept (Tail::kKeep), other ranks may have one batch more.
  std::int64_t batches_per_epoch() const;
  /// Of all ranks.
  std::int64_t global_batches() const;
  int batch_size() const;
  const RankSlice& slice() const;

  /// Moves to the first batch of an epoch. The epoch after the running one is already being prefetched; naming another
  /// one discards that work. The consumer's thread only, like next(). Throws kUsage for an epoch from epochs_end on.
  void start_epoch(std::int64_t epoch);

  /// From here on next() returns the batches that request() names, in the order of the requests, and waits while there
  /// are none; start_epoch() and load_state() end that. The consumer's thread only.
  void start_requests();
  /// Throws kUsage where there is no such batch; start_requests() need not have been called. Threads: any.
  void check_request(const LoaderPosition& batch) const;
  /// Any batches of any epochs, the same as in a run. Threads: any. Throws kUsage where there is no such batch, or
  /// before start_requests().
  void request(const LoaderPosition& batch);

  /// The epoch that next() begins when none is running. The consumer's thread only.
  std::int64_t next_epoch() const;
  /// The consumer's position, which does not count prefetched batches. The consumer's thread only.
  LoaderPosition position() const;
  /// The position as small JSON, with the identity of the run: equal on every rank.
  std::string state() const;
  /// Moves to a state's position, and returns it: the state's epoch begins there, and so does plain iteration. The
  /// state may come from another world size, number of threads, prefetch or memory. Throws kUsage, naming the
  /// differences, for a state of other data or options. The consumer's thread only.
  LoaderPosition load_state(std::string_view json);

  /// The next batch of the epoch, or null at its end; then the next epoch's first, up to epochs_end. Waits for it. An
  /// Error that ends the epoch is thrown here, the first one in order, from whichever thread. Interruptible by
  /// interrupt() from any thread (throws kClosed).
  BatchPtr next();
  /// Like next(), but returns nullopt after `patience`.
  std::optional<BatchPtr> next_within(std::chrono::milliseconds patience);
  /// Waits for what next() returns or throws, and leaves it there; false after `patience`. The position stays.
  bool wait_within(std::chrono::milliseconds patience);

  /// Measures what a step takes without loading, in the training itself: the batch that next() returns next is returned
  /// so many times more before the others go on. Order, position, state, audit and metrics do not count these. The
  /// result is in report(); the log has it, too, and the doctor finds it ("replay"). The consumer's thread only, like
  /// replays(). Throws kUsage for fewer than 4 steps.
  void headspace(int steps);
  /// Whether the batch that next() returned last was one that it had returned before.
  bool replays() const;

  /// The bad samples found so far, in the order of the data set, with any policy. The consumer's thread only.
  std::vector<BadSample> bad_samples() const;
  /// Those that the batch met that next() returned last, by slot; a sample may be there twice. The same.
  std::vector<MetBadSample> bad_in_batch() const;

  /// Range-for over an epoch: for (const BatchPtr& batch : loader.epoch(e)). Its iterators throw kUsage once another
  /// one was started.
  class Epoch;
  Epoch epoch(std::int64_t epoch);

  /// Changes knobs while an epoch runs; the batches stay the same. Threads: any. Throws kUsage for values below 1, an
  /// I/O depth above kIoDepthMax, or a prefetch that the memory budget cannot hold. Reads under way continue when the
  /// I/O depth becomes smaller. Knobs set here are fixed from then on: tuning does not change them.
  void set(const Knobs& knobs);
  /// The measurements so far (runtime/metrics.h). Threads: any.
  Metrics metrics() const;
  /// What the measurements say (runtime/report/loader_report.h): how fast it is, how long the consumer waits, what for,
  /// and what limits. Since the first batch. Threads: any.
  LoaderReport report() const;
  /// The same of one epoch: the one that runs, so far, or one of the last 128. Throws kUsage for others.
  LoaderReport report(std::int64_t epoch) const;
  /// What the cache on a disk has done so far; nothing without one. Threads: any.
  std::optional<DiskCacheCounters> disk_cache() const;
  /// The address at which they are served, "127.0.0.1:9100", with the actual port; empty if they are not served.
  std::string metrics_address() const;
  /// The same of the page about them.
  std::string dashboard_address() const;
  int threads() const;
  int prefetch() const;
  int transfer_index() const;
  /// Reads by pread take a thread each while they are under way, of 32 that a data set has (16, of loose files, beside
  /// io_uring): a greater depth has no effect on them.
  int io_depth() const;
  /// Whether there is any knob that tuning may turn.
  bool tunes() const;
  /// The log of tuning so far (tuner/tuning_log.h); empty if nothing is tuned. Threads: any.
  TuningLog tuning() const;

  /// Makes a waiting next() and all later ones throw kClosed. Threads: any; async-signal-unsafe.
  void interrupt();
  /// Stops and joins every thread; batches held by the consumer stay valid. Idempotent.
  void close();
  /// Whether close() could not write the trace; the log says why.
  bool lost_trace() const;

 private:
  class Running;
  BatchPtr next_of(std::int64_t turn);

  std::shared_ptr<Running> running_;
  std::int64_t turn_ = 0;  // one for each time that the consumer moved elsewhere
};

class Loader::Epoch {
 public:
  class Iterator {
   public:
    using value_type = BatchPtr;
    using difference_type = std::ptrdiff_t;

    const BatchPtr& operator*() const { return batch_; }
    Iterator& operator++() {
      batch_.reset();  // its memory may be what the next batch waits for
      batch_ = loader_->next_of(turn_);
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.batch_ == b.batch_; }

   private:
    friend class Epoch;
    Iterator(Loader* loader, std::int64_t turn, BatchPtr batch)
        : loader_(loader), turn_(turn), batch_(std::move(batch)) {}

    Loader* loader_;
    std::int64_t turn_;
    BatchPtr batch_;
  };

  Iterator begin() { return Iterator(loader_, turn_, loader_->next_of(turn_)); }
  Iterator end() { return Iterator(loader_, turn_, nullptr); }

 private:
  friend class Loader;
  Epoch(Loader* loader, std::int64_t turn) : loader_(loader), turn_(turn) {}

  Loader* loader_;
  std::int64_t turn_;
};

/// The least memory budget with which these options work; larger images or samples may need more.
std::uint64_t memory_bytes_min(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);
/// The least that also holds the data set's largest images and samples: looks for them (largest_needs).
std::uint64_t memory_bytes_enough(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);
/// The least budget of device memory.
std::uint64_t device_memory_bytes_min(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);

}  // namespace stoker
