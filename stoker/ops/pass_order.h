// The order of the two passes of a faithful resampling. The values between them are rounded to 8 bits, so the order
// shows; and versions of Pillow differ in it.
#pragma once

#include <cstdint>

#include "stoker/ops/sampling_map.h"

namespace stoker {

enum class PassOrder : std::uint8_t { kHorizontalFirst, kVerticalFirst };

/// The version from which on Pillow has had an order.
enum class PillowOrder : std::uint8_t { k9_4, k12_2, k13 };

/// The order in which Pillow resizes the map's crop to its target.
PassOrder pass_order(const SamplingMap& map, PillowOrder pillow);

}  // namespace stoker
