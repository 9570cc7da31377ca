// What the decode operator was told.
#pragma once

#include "stoker/ops/operator_call.h"

namespace stoker {

struct DecodeOptions {
  bool apply_orientation = false;  // turn the image upright as its Exif orientation says
};

void apply_decode(const OperatorCall& call, DecodeOptions& options);

}  // namespace stoker
