// What went over the network, counted for reports.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "stoker/storage/http/latency_histogram.h"

namespace stoker {

struct HttpTraffic {
  std::int64_t requests = 0;     // that were sent, with those that repeat another
  std::int64_t retries = 0;      // of them, those that repeat one that failed
  std::int64_t hedges = 0;       // of them, those sent because another was late
  std::int64_t redirects = 0;    // of them, those that another led to
  std::int64_t connections = 0;  // that were made
  std::int64_t bytes = 0;        // of bodies that were used
  LatencyHistogram first_bytes{};
};

/// Threads: one counts, any may read.
class HttpCounters {
 public:
  enum Counter { kRequests, kRetries, kHedges, kRedirects, kConnections, kBytes, kCounters };

  void add(Counter counter, std::int64_t count = 1) { add_to(counts_[counter], count); }
  void add_first_byte(std::int64_t ns) { add_to(first_bytes_[LatencyHistogram::bucket_of(ns)], 1); }

  HttpTraffic read() const {
    HttpTraffic traffic{.requests = counts_[kRequests],
                        .retries = counts_[kRetries],
                        .hedges = counts_[kHedges],
                        .redirects = counts_[kRedirects],
                        .connections = counts_[kConnections],
                        .bytes = counts_[kBytes]};
    for (std::size_t i = 0; i < first_bytes_.size(); ++i) traffic.first_bytes.counts[i] = first_bytes_[i];
    return traffic;
  }

 private:
  using Count = std::atomic<std::int64_t>;
  static void add_to(Count& count, std::int64_t more) { count.fetch_add(more, std::memory_order_relaxed); }

  std::array<Count, kCounters> counts_{};
  std::array<Count, LatencyHistogram::kBuckets> first_bytes_{};
};

}  // namespace stoker
