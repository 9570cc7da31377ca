// What a loader says of itself whose batches other loaders make, its members, in other processes: their metrics as
// those of one loader, and its reports. Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "stoker/runtime/metrics.h"
#include "stoker/runtime/report/epoch_reports.h"

namespace stoker {

/// A batch that the consumer got.
struct MemberBatch {
  std::int64_t member = 0;  // made it
  std::int64_t samples = 0;
  std::int64_t wait_ns = 0;    // of the consumer
  std::int64_t period_ns = 0;  // of the member, since it was asked for the batch or had made the one before; 0: unknown
};

class MemberReports {
 public:
  /// What a member has measured since it began; it says so with each batch, before that is delivered.
  void update(std::int64_t member, const Metrics& metrics);
  /// It will say no more.
  void leave(std::int64_t member);

  void begin_epoch(std::int64_t epoch) { reports_.begin_epoch(epoch); }
  std::optional<LoaderReport> end_epoch();
  void deliver(const MemberBatch& batch);
  /// The consumer has done with the batch, and comes back for the next one.
  void step(std::int64_t ns);

  /// Counters and gauges are sums over the members, and knobs and quantiles the largest of theirs; deliveries, waits
  /// and steps are the consumer's. A wait is divided as its maker's period was: where that waited itself, batches are
  /// made too slowly, and for all else they are on their way, which counts as a device's time.
  Metrics metrics() const;
  LoaderReport since_beginning() const { return reports_.since_beginning(); }
  /// As EpochReports has it.
  LoaderReport of(std::int64_t epoch) const { return reports_.of(epoch); }

 private:
  struct Member {
    Metrics now{};
    std::int64_t waited_reads_ns = 0, waited_workers_ns = 0;  // itself, for its last batch
  };

  std::map<std::int64_t, Member> members_;
  Metrics gone_{};  // counters of those that have left
  Metrics consumer_{};
  EpochReports reports_{[this] { return metrics(); }};
};

}  // namespace stoker
