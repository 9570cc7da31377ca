// The arguments of the decode operator.
#pragma once

#include <cstdint>

#include "stoker/ops/operator_call.h"
#include "stoker/ops/pass_order.h"

namespace stoker {

/// docs/pixels.md. Images that have no planes are faithful in either mode.
enum class DecodeMode : std::uint8_t { kFaithful, kPlanar };

struct DecodeOptions {
  DecodeMode mode = DecodeMode::kFaithful;
  PillowOrder pillow = PillowOrder::k9_4;
  bool apply_orientation = false;  // turn the image upright as its Exif orientation says
  bool scaled = false;             // planes are decoded smaller where the target allows it (SamplingMap::shrink)
};

void apply_decode(const OperatorCall& call, DecodeOptions& options);

}  // namespace stoker
