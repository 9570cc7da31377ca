// Reads what views take from JSON: the number that one of kind kNumber is, and texts.
#pragma once

#include <string>

#include "stoker/base/bytes.h"
#include "stoker/ops/json_number.h"

namespace stoker {

/// Writes it to `out`, little-endian. Throws kBadSample for what is no JSON, has no such number, or one that the type
/// does not hold.
void write_json_number(Bytes json, const JsonNumber& number, MutableBytes out);

/// The text that the key, or pointer, names. Throws kBadSample for what is no JSON, or has no such text; if it
/// `may_lack` one, null is an empty text.
std::string json_text(Bytes json, const std::string& key, bool may_lack);

}  // namespace stoker
