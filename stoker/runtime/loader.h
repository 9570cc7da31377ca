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
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader_options.h"
#include "stoker/runtime/metrics.h"
#include "stoker/tensor/batch.h"
#include "stoker/tuner/knob_setting.h"

namespace stoker {

struct TuningLog;

/// Global batches before `batch` of `epoch` were seen by the consumer; `batch` may be the epoch's end.
struct LoaderPosition {
  std::int64_t epoch = 0, batch = 0;

  friend bool operator==(const LoaderPosition&, const LoaderPosition&) = default;
};

/// A batch as the consumer holds it: when the last reference goes, its memory is used again.
using BatchPtr = std::shared_ptr<const Batch>;

/// After fork() a child's copy is inert: closing and destroying it do nothing, all else throws kClosed.
class Loader {
 public:
  /// Starts the threads; reading begins with the first epoch. Throws kUsage for options that make no sense and kMemory
  /// for a budget that cannot work, saying the least that does.
  Loader(std::shared_ptr<const Dataset> dataset, Recipe recipe, LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  const Dataset& dataset() const;
  const Recipe& recipe() const;
  std::vector<OutputSpec> outputs() const;
  /// Of this rank. Where the tail is kept (Tail::kKeep) other ranks may have one more: their samples are left alone.
  std::int64_t batches_per_epoch() const;
  int batch_size() const;

  /// Goes to the first batch of an epoch. The one after the running epoch is already being prefetched; naming another
  /// one throws that work away. The consumer's thread only, as next(). Throws kUsage for one from epochs_end on.
  void start_epoch(std::int64_t epoch);

  /// The epoch that next() goes on with when none runs. The consumer's thread only.
  std::int64_t next_epoch() const;
  /// Where the consumer stands: what is prefetched is not counted. The consumer's thread only.
  LoaderPosition position() const;
  /// The same as small JSON, and of what it is: equal on every rank.
  std::string state() const;
  /// Goes to where a state stands, and returns it: the epoch that it names begins there, and so does plain iteration.
  /// It may be of another world size, number of threads, prefetch or memory. Throws kUsage, saying what differs, for
  /// one of other data or options. The consumer's thread only.
  LoaderPosition load_state(std::string_view json);

  /// The next batch of the epoch, or null at its end; then the next epoch's first, up to epochs_end. Waits for it. What
  /// ends the epoch is thrown here as an Error, the first in order, whatever thread met it. Interruptible by
  /// interrupt() from any thread (throws kClosed).
  BatchPtr next();
  /// As next(), but gives up after `patience`: nullopt.
  std::optional<BatchPtr> next_within(std::chrono::milliseconds patience);

  /// Those that were met so far, in the order of the data set; whatever the policy. The consumer's thread only.
  std::vector<BadSample> bad_samples() const;

  /// Range-for over an epoch: for (const BatchPtr& batch : loader.epoch(e)).
  class Epoch;
  Epoch epoch(std::int64_t epoch);

  /// What may be changed while an epoch runs; the batches stay the same. Threads: any. Throws kUsage for values below
  /// 1, an I/O depth above kIoDepthMax, or a prefetch that the memory budget cannot hold. Reads that are under way stay
  /// so when the I/O depth becomes smaller. What is set here is the user's from then on: tuning leaves it alone.
  void set(const Knobs& knobs);
  /// Threads: any.
  Metrics metrics() const;
  /// Where they are served, "127.0.0.1:9100", with the port that was found; empty: nowhere.
  std::string metrics_address() const;
  int threads() const;
  int prefetch() const;
  int transfer_index() const;
  /// Reads by pread take a thread each while they are under way, of 32 that a data set has (16, of loose files, beside
  /// io_uring): a greater depth changes nothing for them.
  int io_depth() const;
  /// Whether there is anything that tuning may turn.
  bool tunes() const;
  /// What was tuned so far (tuner/tuning_log.h); empty if nothing is. Threads: any.
  TuningLog tuning() const;

  /// Makes a waiting next() and all later ones throw kClosed. Threads: any; async-signal-unsafe.
  void interrupt();
  /// Stops and joins every thread; batches held by the consumer stay valid. Idempotent.
  void close();

 private:
  class Running;
  std::shared_ptr<Running> running_;
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
      batch_ = loader_->next();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.batch_ == b.batch_; }

   private:
    friend class Epoch;
    Iterator(Loader* loader, BatchPtr batch) : loader_(loader), batch_(std::move(batch)) {}

    Loader* loader_;
    BatchPtr batch_;
  };

  Iterator begin() { return Iterator(loader_, loader_->next()); }
  Iterator end() { return Iterator(loader_, nullptr); }

 private:
  friend class Loader;
  explicit Epoch(Loader* loader) : loader_(loader) {}

  Loader* loader_;
};

/// The least memory budget with which these options work; larger images or samples may need more.
std::uint64_t memory_bytes_min(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);
/// The least with which the data set's largest images and samples can be had, too: looks for them (largest_needs).
std::uint64_t memory_bytes_enough(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);
/// The least of the device's memory.
std::uint64_t device_memory_bytes_min(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options);

}  // namespace stoker
