// The order of data sets that are mixed: an endless stream of draws in which each has exactly its share, and which goes
// through each in shuffled passes of its own, whatever the sizes of the others. Draws are dealt out in blocks, so where
// one pass ends and the next begins the two are mixed within a block.
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

  /// The sample that draw number `draw` of the run takes.
  std::int64_t sample_at(std::int64_t draw) const;

 private:
  struct Part {
    std::int64_t first, samples;      // where its samples stand in the data set
    std::int64_t block_begin, quota;  // which slots of a block are its, before they are shuffled
  };

  std::uint64_t seed_;
  std::int64_t block_ = 0;  // so many draws have exactly their shares
  std::vector<Part> parts_;
};

}  // namespace stoker
