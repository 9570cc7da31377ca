#include "stoker/doctor/probe/object_store_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "stoker/base/units.h"
#include "stoker/doctor/probe/figure_of.h"
#include "stoker/runtime/probe/store_probe.h"

namespace stoker {
namespace {

// Samples that follow one another, in some places of the data set.
constexpr std::int64_t kPlaces = 8, kSamplesEach = 64;

constexpr int kStoreTries = 3, kStoreTriesQuick = 1;

std::vector<std::int64_t> probed_samples(const Dataset& dataset) {
  std::vector<std::int64_t> samples;
  for (std::int64_t i = 0; i < kPlaces; ++i) {
    const std::int64_t begin = std::max(dataset.size() / kPlaces * i, samples.empty() ? 0 : samples.back() + 1);
    for (std::int64_t at = begin; at < std::min(begin + kSamplesEach, dataset.size()); ++at) samples.push_back(at);
  }
  return samples;
}

}  // namespace

std::optional<StoreFacts> probe_object_store(const Dataset& dataset, const ProbeLimits& limits,
                                             std::vector<std::string>& doubts) {
  const std::vector<std::int64_t> samples = probed_samples(dataset);
  std::vector<double> first_byte_s, late_s, connection, link, requests, of_request, of_byte;
  StoreFacts facts;
  std::int64_t slow_downs = 0, sent = 0;
  for (int i = 0; i < limits.pick(kStoreTries, kStoreTriesQuick); ++i) {
    limits.check();
    const std::optional<StoreRates> rates = measure_store(dataset, samples);
    if (!rates) return std::nullopt;
    first_byte_s.push_back(rates->first_byte_s_p50);
    late_s.push_back(rates->first_byte_s_p99);
    connection.push_back(rates->connection_bytes_per_s);
    link.push_back(rates->link_bytes_per_s);
    requests.push_back(rates->requests_per_s);
    of_request.push_back(rates->cpu_s_per_request);
    of_byte.push_back(rates->cpu_s_per_byte);
    facts.requests_at_once = std::max(facts.requests_at_once, rates->requests_at_once);
    slow_downs += rates->slow_downs;
    sent += rates->requests;
  }
  facts.first_byte_s = figure_of(std::move(first_byte_s));
  facts.first_byte_s_p99 = figure_of(std::move(late_s)).median;
  facts.connection_bytes_per_s = figure_of(std::move(connection));
  facts.link_bytes_per_s = figure_of(std::move(link));
  facts.requests_per_s = figure_of(std::move(requests));
  facts.cpu_s_per_request = figure_of(std::move(of_request));
  facts.cpu_s_per_byte = figure_of(std::move(of_byte));
  facts.throttled = slow_downs > 0;
  if (facts.throttled) {
    const std::string caveat = "the store refused requests as too many";
    facts.requests_per_s.caveat = facts.link_bytes_per_s.caveat = caveat;
    doubts.push_back(fmt::format("{}: {} of {}", caveat, slow_downs, sent));
  }
  return facts;
}

}  // namespace stoker
