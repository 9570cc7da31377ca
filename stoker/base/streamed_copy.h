// Copies past the processor's caches.
#pragma once

#include "stoker/base/bytes.h"

namespace stoker {

/// Copies `from` to `to`, which holds as many bytes and is not read soon: it is written without being fetched first,
/// and leaves the caches to others. Short copies are ordinary ones.
void streamed_copy(Bytes from, std::uint8_t* to);

}  // namespace stoker
