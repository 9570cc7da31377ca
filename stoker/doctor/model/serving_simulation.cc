#include "stoker/doctor/model/serving_simulation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "stoker/base/random.h"

namespace stoker {
namespace {

constexpr int kRequests = 30'000, kRequestsBefore = 3'000;  // that count, and that fill the queues first

struct Request {
  double arrived, ready;
  bool operator<(const Request& other) const { return ready < other.ready; }
};

void decode_in_turn(const Serving& serving, Random& random, std::vector<Request>& requests) {
  std::vector<double> free_at(static_cast<std::size_t>(serving.workers), 0.0);  // a heap, the first on top
  std::sort(requests.begin(), requests.end());
  for (Request& request : requests) {
    std::pop_heap(free_at.begin(), free_at.end(), std::greater<>());
    free_at.back() = request.ready = std::max(free_at.back(), request.ready) + serving.sample_s.at(random.uniform());
    std::push_heap(free_at.begin(), free_at.end(), std::greater<>());
  }
}

}  // namespace

ServingOutcome simulate(const Serving& serving, std::uint64_t seed) {
  assert(serving.requests_per_s > 0 && serving.workers > 0 && serving.gpus > 0 && serving.batch > 0);
  Random random(seed, 0, 0, 0);
  std::vector<Request> requests(kRequestsBefore + kRequests);
  double now = 0;
  for (Request& request : requests) {
    now -= std::log1p(-random.uniform()) / serving.requests_per_s;
    const bool reads = serving.read_share > 0 && random.uniform() < serving.read_share;
    request = {now, now + (reads ? serving.read_s.at(random.uniform()) : 0)};
  }
  decode_in_turn(serving, random, requests);
  std::sort(requests.begin(), requests.end());
  std::vector<double> gpu_free(static_cast<std::size_t>(serving.gpus), 0.0), latencies;
  const double counts_from = kRequestsBefore / serving.requests_per_s;
  for (std::size_t next = 0; next < requests.size();) {
    double& free = *std::min_element(gpu_free.begin(), gpu_free.end());
    const double start = std::max(free, requests[next].ready);
    free = start + serving.step_s;
    for (int taken = 0; taken < serving.batch && next < requests.size() && requests[next].ready <= start; ++taken) {
      if (requests[next].arrived >= counts_from) latencies.push_back(free - requests[next].arrived);
      ++next;
    }
  }
  std::sort(latencies.begin(), latencies.end());
  return {latencies[latencies.size() / 2], latencies[latencies.size() * 99 / 100]};
}

}  // namespace stoker
