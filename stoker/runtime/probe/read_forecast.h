// How many requests and bytes an order costs: found by taking some thousand samples through the loader's order and its
// read plan, without reading any. Where they lie is told by a few stretches of the data set, which stand for all.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/engine/board_options.h"
#include "stoker/runtime/resolved_options.h"

namespace stoker {

/// What is read of consecutive samples, as offsets from where the first one begins.
struct SampleLayout {
  struct Range {
    std::uint64_t begin, length;
    bool apart;  // from the samples: entry points
  };
  struct Sample {
    std::vector<Range> ranges;
    std::uint64_t bytes;  // that it takes of the read-ahead
  };

  std::vector<Sample> samples;
  std::uint64_t span = 0, span_apart = 0;  // of all of them, in their source and apart
  bool loose = false;                      // each range is an object of its own
  bool remote = true;                      // in a store far away
  std::uint64_t gap_worth_reading = 0;     // of the store
  std::uint64_t unit = 1;  // that is read as a whole: more than a byte where the page cache is passed by

  std::uint64_t span_each() const { return span / samples.size(); }
};

/// Of the samples from each of `begins` on, `each` of them as far as there are; bad ones are left out. It reads their
/// rows, of which an index may have to be fetched. Throws kData if all are bad.
SampleLayout lay_out(const Dataset& dataset, const BoardOptions& board, const std::vector<std::int64_t>& begins,
                     std::int64_t each);

struct ReadForecast {
  double requests = 0, bytes = 0;              // per sample, of all epochs but for their beginning
  double requests_apart = 0, bytes_apart = 0;  // of these, of entry points
  double requests_ahead = 0;                   // that are under way, over time, where each takes as long as any other
};

/// The board of a loader with these options: with as much memory as it needs at least, and with epochs also where
/// the data set is smaller than a batch. Throws kUsage for options that contradict each other.
BoardOptions forecast_board(const Dataset& dataset, const Recipe& recipe, const Plan& plan, LoaderOptions options);

/// Of a loader with such a board, for which a store answers so many requests at once, at most.
ReadForecast forecast_reads(const SampleLayout& layout, const BoardOptions& board,
                            int at_once = std::numeric_limits<int>::max());

}  // namespace stoker
