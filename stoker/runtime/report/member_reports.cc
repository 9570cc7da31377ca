#include "stoker/runtime/report/member_reports.h"

#include <algorithm>

#include "stoker/base/clock.h"

namespace stoker {
namespace {

// What the consumer of all members measures itself.
constexpr Metric kOfConsumer[] = {Metric::kSamples,
                                  Metric::kBatches,
                                  Metric::kEpochs,
                                  Metric::kFirstBatchNs,
                                  Metric::kConsumerWaitNs,
                                  Metric::kConsumerWaitReadsNs,
                                  Metric::kConsumerWaitWorkersNs,
                                  Metric::kConsumerWaitDeviceNs,
                                  Metric::kConsumerSteps,
                                  Metric::kConsumerStepNs};

bool is_sum(const MetricSpec& spec) { return spec.kind != MetricKind::kKnob && spec.quantile.empty(); }

}  // namespace

void MemberReports::update(std::int64_t member, const Metrics& metrics) {
  Member& known = members_[member];
  const auto increase = [&](Metric metric) { return metrics[metric] - known.now[metric]; };
  known.waited_reads_ns = increase(Metric::kConsumerWaitReadsNs);
  known.waited_workers_ns = increase(Metric::kConsumerWaitWorkersNs);
  known.now = metrics;
}

void MemberReports::leave(std::int64_t member) {
  const auto found = members_.find(member);
  if (found == members_.end()) return;
  for (std::size_t i = 0; i < kMetrics; ++i) {
    if (metric_table()[i].kind == MetricKind::kCounter) gone_.values[i] += found->second.now.values[i];
  }
  members_.erase(found);
}

std::optional<LoaderReport> MemberReports::end_epoch() {
  std::optional<LoaderReport> report = reports_.end_epoch();
  if (report) ++consumer_[Metric::kEpochs];
  return report;
}

void MemberReports::deliver(const MemberBatch& batch) {
  const bool is_first = consumer_[Metric::kBatches] == 0;
  if (is_first) consumer_[Metric::kFirstBatchNs] = batch.wait_ns;
  ++consumer_[Metric::kBatches];
  consumer_[Metric::kSamples] += batch.samples;
  consumer_[Metric::kConsumerWaitNs] += batch.wait_ns;
  const auto maker = members_.find(batch.member);
  const bool knows = maker != members_.end();
  const double reads_ns = knows ? static_cast<double>(maker->second.waited_reads_ns) : 0;
  const double all_ns = reads_ns + (knows ? static_cast<double>(maker->second.waited_workers_ns) : 0);
  const auto wait_ns = static_cast<double>(batch.wait_ns);
  const double making_ns =
      knows && batch.period_ns > 0 ? wait_ns * std::min(all_ns / static_cast<double>(batch.period_ns), 1.0) : wait_ns;
  const double for_reads_ns = all_ns > 0 ? making_ns * reads_ns / all_ns : 0;
  consumer_[Metric::kConsumerWaitReadsNs] += static_cast<std::int64_t>(for_reads_ns);
  consumer_[Metric::kConsumerWaitWorkersNs] += static_cast<std::int64_t>(making_ns - for_reads_ns);
  consumer_[Metric::kConsumerWaitDeviceNs] += static_cast<std::int64_t>(wait_ns - making_ns);
  if (is_first) reports_.first_batch();
}

void MemberReports::step(std::int64_t ns) {
  ++consumer_[Metric::kConsumerSteps];
  consumer_[Metric::kConsumerStepNs] += ns;
}

Metrics MemberReports::metrics() const {
  Metrics all = gone_;
  for (const auto& [number, member] : members_) {
    for (std::size_t i = 0; i < kMetrics; ++i) {
      std::int64_t& value = all.values[i];
      const std::int64_t theirs = member.now.values[i];
      value = is_sum(metric_table()[i]) ? value + theirs : std::max(value, theirs);
    }
  }
  for (const Metric metric : kOfConsumer) all[metric] = consumer_[metric];
  all.at_ns = now_ns();
  return all;
}

}  // namespace stoker
