// How long to wait before a request is repeated.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/storage/http/http_options.h"

namespace stoker {

/// After `tries` of them, one at least. Full jitter: `drawn`, uniform in [0, 1), picks from all of the time, so that
/// clients that failed together do not come back together. What the server asks for is the least; the jitter is added.
std::int64_t retry_delay_ns(const HttpOptions& options, int tries, double drawn,
                            std::optional<std::int64_t> retry_after_s);

}  // namespace stoker
