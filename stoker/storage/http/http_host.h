// What is known about one server, from all requests to it.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/storage/http/link_estimate.h"
#include "stoker/storage/http/retry_budget.h"

namespace stoker {

/// Threads: the driver's alone, but for the link's gap.
struct HttpHost {
  // A fault in ten costs a tenth more requests; a server that fails for a while is asked again by all that it had.
  static constexpr double kRetriesPerRequest = 0.25, kRetriesAtOnce = 500;
  static constexpr double kHedgesPerRequest = 0.02, kHedgesAtOnce = 4;

  LinkEstimate link;
  RetryBudget retries{kRetriesPerRequest, kRetriesAtOnce};
  RetryBudget hedges{kHedgesPerRequest, kHedgesAtOnce};
  bool sends_ranges = false;         // it has sent one
  std::int64_t last_heard_ns = 0;    // when it began an answer
  std::int64_t silent_until_ns = 0;  // it is not asked before: it said nothing for as long as a request may take
  std::string why_silent;
};

}  // namespace stoker
