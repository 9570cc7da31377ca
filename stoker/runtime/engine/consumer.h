// The consumer's side of a loader: epochs, and the batches that the consumer's thread takes and releases.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/runtime/engine/bad_sample_account.h"
#include "stoker/runtime/engine/batch_period.h"
#include "stoker/runtime/engine/engine_core.h"
#include "stoker/runtime/engine/reader.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/loader_state.h"
#include "stoker/runtime/report/audit.h"
#include "stoker/runtime/report/epoch_reports.h"
#include "stoker/runtime/report/step_keeper.h"

namespace stoker {

/// The consumer's thread only, except for what batches do when they are released.
class Consumer {
 public:
  Consumer(EngineCore& core, Reader& reader, const ResolvedOptions& options);

  /// Called for each batch but the first; to be set before batches are asked for.
  void on_delivered(std::function<void(const BatchPeriod&)> told) { delivered_told_ = std::move(told); }

  /// No batches are delivered from here on.
  void close() noexcept;
  void start_epoch(std::int64_t epoch);
  void start_requests();
  /// Threads: any, like request().
  void check_request(const LoaderPosition& batch) const;
  void request(const LoaderPosition& batch);
  std::int64_t next_epoch() const;
  LoaderPosition position() const;
  std::string state() const;
  LoaderPosition load_state(std::string_view json);
  std::vector<BadSample> bad_samples() const { return bad_samples_.all(); }
  const std::vector<MetBadSample>& bad_in_batch() const { return bad_samples_.in_batch(); }
  std::int64_t batches_per_epoch() const { return batches_per_epoch_; }
  const RankSlice& slice() const { return core_.board.order.slice(); }
  std::int64_t global_batches() const { return core_.board.order.global_batches(); }

  /// What the consumer does until it gets its next batch is no step.
  void pause();
  /// It was measured in a pause.
  void tell_headspace(const StepSummary& alone);
  const EpochReports& reports() const { return reports_; }

  /// Null at the end of the epoch; nullopt when the deadline passed first. The batch shares the owner of all this.
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  std::optional<BatchPtr> next(Deadline deadline, const std::shared_ptr<void>& owner);
  /// Waits for what next() returns or throws, and leaves it there; false when the deadline passes first.
  bool wait(Deadline deadline);

 private:
  bool at_end() const;
  BatchPtr end_epoch();
  void end_step();
  void trace_wait(std::int64_t end_ns);
  void trace_device(const LoaderBatch& batch);
  bool pop_arriving(Deadline deadline);
  void set_waits(ConsumerWait waits);
  void count_device(const StageTimes& stages_ns);
  void wait_for_batch(std::unique_lock<std::mutex>& lock, Deadline deadline);
  bool lacks_memory_on_device() const;
  bool await_device(std::size_t but, Deadline deadline);
  void follow_request();
  void drop_arriving() noexcept;
  BatchPtr deliver(std::unique_ptr<LoaderBatch> batch, const std::shared_ptr<void>& owner);
  void count_late(std::int64_t late_ns);
  void tell_delivered(std::int64_t delivered_ns);
  void release(LoaderBatch* batch) noexcept;

  EngineCore& core_;
  Reader& reader_;
  const int batch_;
  const std::int64_t epochs_end_;
  const std::function<void(const LoaderProgress&)> progress_;
  std::function<void(const BatchPeriod&)> delivered_told_;
  std::unique_ptr<AuditWriter> audit_;
  const LoaderState state_;
  StepKeeper step_keeper_;
  const bool step_goes_on_;
  const std::int64_t batches_per_epoch_;

  bool in_epoch_ = false;
  bool on_request_ = false;
  std::int64_t epoch_ = -1;
  std::int64_t delivered_ = 0;            // of the epoch; those before a state were, too
  std::optional<LoaderPosition> resume_;  // where the next epoch begins, if it is that one
  /// Where the epochs stood when batches were requested.
  struct Left {
    LoaderPosition position;
    std::int64_t next_epoch;
  };
  std::optional<Left> left_;
  std::int64_t first_start_ns_ = 0;
  std::int64_t step_since_ns_ = 0;  // when the consumer got the batch that it is at work on; 0: it has none
  // Since the last delivery.
  std::int64_t delivered_at_ns_ = 0;         // 0: there was none
  std::int64_t entered_ns_ = 0;              // wait(), for the last time, less what was waited by then
  std::int64_t late_ns_ = 0;                 // between a batch's being there and the return of wait()
  std::int64_t waited_ns_ = 0;               // for a batch, and not for what the consumer itself gave the device to do
  std::int64_t made_ = 0, made_before_ = 0;  // slots, when this batch was popped and the one before
  bool first_delivered_ = false;
  EpochReports reports_;
  std::int64_t last_wait_ns_ = 0;  // for the batch that was delivered last
  // Of what is traced.
  std::int64_t wait_since_ns_ = 0;         // since when the consumer waits; 0: it does not
  std::int64_t device_until_ns_ = 0;       // the end of the device's last work
  std::unique_ptr<LoaderBatch> arriving_;  // popped, and not yet delivered
  std::deque<LoaderBatch*> on_device_;     // popped, the oldest first; the consumer may have released some
  std::vector<BadSlot> bad_;               // scratch: of the batch at hand
  BadSampleAccount bad_samples_;
  std::exception_ptr epoch_error_;  // a failed epoch stays failed until another is started
};

}  // namespace stoker
