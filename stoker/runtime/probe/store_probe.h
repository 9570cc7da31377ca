// What a store over a network gives: how soon it answers, how fast one connection is, how many requests it answers, and
// how fast all connections are together. Measured by reading the shards' bytes, with the requests of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stoker/format/dataset.h"

namespace stoker {

struct StoreRates {
  double first_byte_s_p50 = 0, first_byte_s_p99 = 0;  // with few requests at a time
  double connection_bytes_per_s = 0;                  // of one, once its answer has begun
  double link_bytes_per_s = 0;                        // of all together
  double requests_per_s = 0;                          // small ones, as many at a time as the transport makes
  int requests_at_once = 1;                           // that it made then, at most
  double cpu_s_per_request = 0, cpu_s_per_byte = 0;   // of this process
  std::uint64_t gap_worth_reading = 0;                // between two ranges
  std::uint64_t bytes = 0;                            // that measuring took
  std::int64_t requests = 0;
  std::int64_t slow_downs = 0;  // of them, those that the store refused as too many
};

/// Reads from where the samples of these numbers lie, and near them. It takes some seconds and some hundred MB at most.
/// Nothing if none of the samples comes from a store over a network. Throws what reading throws.
std::optional<StoreRates> measure_store(const Dataset& dataset, std::span<const std::int64_t> samples);

}  // namespace stoker
