// Reads the number that a view of kind kNumber is.
#pragma once

#include "stoker/base/bytes.h"
#include "stoker/ops/json_number.h"

namespace stoker {

/// Writes it to `out`, little-endian. Throws kBadSample for what is no JSON, has no such number, or one that the type
/// does not hold.
void write_json_number(Bytes json, const JsonNumber& number, MutableBytes out);

}  // namespace stoker
