#include "stoker/storage/store_traffic.h"

#include <algorithm>

namespace stoker {

StoreTraffic& StoreTraffic::operator+=(const StoreTraffic& other) {
  requests += other.requests;
  retries += other.retries;
  hedges += other.hedges;
  redirects += other.redirects;
  connections += other.connections;
  bytes += other.bytes;
  busy_ns += other.busy_ns;
  for (std::size_t i = 0; i < LatencyHistogram::kBuckets; ++i) first_bytes.counts[i] += other.first_bytes.counts[i];
  return *this;
}

void add_meters(const TrafficMeters& meters, TrafficMeters& into) {
  for (const auto& meter : meters) {
    if (std::find(into.begin(), into.end(), meter) == into.end()) into.push_back(meter);
  }
}

StoreTraffic traffic_of(const TrafficMeters& meters) {
  StoreTraffic sum;
  for (const auto& meter : meters) sum += meter->traffic();
  return sum;
}

}  // namespace stoker
