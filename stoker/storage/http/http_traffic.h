// What goes over the network by HTTP, counted while it does.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "stoker/base/clock.h"
#include "stoker/base/occupancy.h"
#include "stoker/storage/store_traffic.h"

namespace stoker {

/// Threads: one counts, any may read.
class HttpCounters {
 public:
  enum Counter { kRequests, kRetries, kHedges, kRedirects, kConnections, kBytes, kBodyNs, kSlowDowns, kCounters };

  void add(Counter counter, std::int64_t count = 1) { add_to(counts_[counter], count); }
  void add_first_byte(std::int64_t ns) { add_to(first_bytes_[LatencyHistogram::bucket_of(ns)], 1); }
  /// How many requests are under way from now on.
  void set_under_way(int requests) {
    const int busy = requests > 0 ? 1 : 0;
    if (busy == busy_.level()) return;
    busy_.begin_change();
    busy_.end_change(busy, now_ns());
  }

  std::int64_t slow_downs() const { return counts_[kSlowDowns]; }

  StoreTraffic read() const {
    StoreTraffic traffic{.requests = counts_[kRequests],
                         .retries = counts_[kRetries],
                         .hedges = counts_[kHedges],
                         .redirects = counts_[kRedirects],
                         .connections = counts_[kConnections],
                         .bytes = counts_[kBytes],
                         .body_ns = counts_[kBodyNs],
                         .busy_ns = busy_.read(now_ns()).level_ns};
    for (std::size_t i = 0; i < first_bytes_.size(); ++i) traffic.first_bytes.counts[i] = first_bytes_[i];
    return traffic;
  }

 private:
  using Count = std::atomic<std::int64_t>;
  static void add_to(Count& count, std::int64_t more) { count.fetch_add(more, std::memory_order_relaxed); }

  std::array<Count, kCounters> counts_{};
  std::array<Count, LatencyHistogram::kBuckets> first_bytes_{};
  Occupancy busy_;
};

}  // namespace stoker
