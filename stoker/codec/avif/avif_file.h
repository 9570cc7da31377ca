// The boxes of an AVIF file that tell how much there is to decode, checked before libavif reads the file.
#pragma once

#include <cstdint>

#include "stoker/base/bytes.h"

namespace stoker {

/// Throws kBadSample for a file that lacks coded bytes, or whose items have frames of more pixels than that, or more of
/// them than an image needs: an AV1 decoder makes each of them, shown or not.
void check_avif(Bytes encoded, std::uint64_t pixels_max);

}  // namespace stoker
