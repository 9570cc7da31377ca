// The order of a mixture: an endless stream of draws in which each data set has its share at any time. It goes through
// each data set in separate shuffled passes, independently of the others' sizes. Draws are dealt out in blocks, so the
// end of one pass and the beginning of the next are mixed within a block.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/order/order_options.h"

namespace stoker {

/// A function of (seed, draw). Threads: any.
class MixedOrder {
 public:
  /// `options.mixture` has at least one part, and each has samples and a weight.
  explicit MixedOrder(const OrderOptions& options);

  /// The sample of draw number `draw` of the run.
  std::int64_t sample_at(std::int64_t draw) const;

 private:
  struct Part {
    std::int64_t first, samples;  // the place of its samples in the data set
    std::int64_t weight;
  };

  std::vector<std::int64_t> dealt_to(std::int64_t draws) const;

  std::uint64_t seed_;
  std::int64_t weights_ = 0;  // of all parts
  std::int64_t block_ = 0;    // draws
  std::vector<Part> parts_;
};

}  // namespace stoker
