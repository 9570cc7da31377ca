// What a resource can carry, in samples a second. The tuner, the advice on stores and the doctor compute with these, so
// that they cannot disagree about what a thread, a disk or a link is worth.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <span>

namespace stoker {

/// Of what is not needed, or not known to limit.
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// Threads, in units of one that has a core to itself: those beyond `cores` count `worth_beyond` each.
constexpr double worth_of_threads(int threads, int cores, double worth_beyond) {
  const double beyond = std::max(0, threads - cores);
  return threads - beyond * (1 - worth_beyond);
}

/// Of workers that take `seconds` of a core for each sample.
constexpr double rate_of_workers(double workers, double seconds) {
  return seconds > 0 ? workers / seconds : kUnlimited;
}

/// Of the training, or of anything else that takes a batch at a time.
constexpr double rate_of_steps(double batch, double step_s) { return batch / step_s; }

/// Of whatever carries bytes: a link, a disk, memory.
constexpr double rate_of_bytes(double bytes_per_s, double bytes) {
  return bytes > 0 ? bytes_per_s / bytes : kUnlimited;
}

/// Of whatever answers so many requests a second.
constexpr double rate_of_requests(double requests_per_s, double requests) {
  return requests > 0 ? requests_per_s / requests : kUnlimited;
}

/// Of `depth` requests under way at a time that take `latency_s` each.
constexpr double rate_of_latency(double depth, double latency_s, double requests) {
  return latency_s > 0 && requests > 0 ? depth / latency_s / requests : kUnlimited;
}

/// Requests a second that a device answers, which slows down by `crowding` for each request more that is under way.
constexpr double crowded_requests_per_s(double requests_per_s, double crowding, int depth) {
  return requests_per_s / (1 + crowding * (depth - 1));
}

/// The part of its rate that a pipeline reaches with so many batches made ahead: each step needs a part of one before
/// all else can go on beside it.
double share_by_prefetch(double prefetch);

/// Of all together, each of which a sample needs: the least, and a little less if several are near it.
double throughput_of(std::span<const double> rates);

/// Samples that differ in what they need: a share of them passes at this rate.
struct SharedRate {
  double share, rate;
};
/// Of all of them in turn: 1 / sum(share / rate), never the rates' average. Shares of 0 count nothing.
double mixed_rate(std::initializer_list<SharedRate> parts);

}  // namespace stoker
