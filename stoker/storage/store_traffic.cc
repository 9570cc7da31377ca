#include "stoker/storage/store_traffic.h"

#include <algorithm>
#include <array>

namespace stoker {

namespace {

using Count = std::int64_t StoreTraffic::*;
constexpr std::array kCounts = {&StoreTraffic::requests,  &StoreTraffic::retries,     &StoreTraffic::hedges,
                                &StoreTraffic::redirects, &StoreTraffic::connections, &StoreTraffic::bytes,
                                &StoreTraffic::body_ns,   &StoreTraffic::busy_ns};

void add(const StoreTraffic& more, std::int64_t times, StoreTraffic& into) {
  for (const Count count : kCounts) into.*count += times * more.*count;
  for (std::size_t i = 0; i < LatencyHistogram::kBuckets; ++i) {
    into.first_bytes.counts[i] += times * more.first_bytes.counts[i];
  }
}

}  // namespace

StoreTraffic& StoreTraffic::operator+=(const StoreTraffic& other) {
  add(other, 1, *this);
  return *this;
}

StoreTraffic& StoreTraffic::operator-=(const StoreTraffic& earlier) {
  add(earlier, -1, *this);
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
