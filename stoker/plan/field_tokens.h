// The numbers of a view of kind kTokens.
#pragma once

#include "stoker/base/bytes.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/token_options.h"

namespace stoker {

/// Writes options.length numbers as int64. Throws kBadSample for a field that holds no such tokens.
void write_field_tokens(Bytes field, const TokenOptions& options, const SampleDraw& draw, MutableBytes out);

}  // namespace stoker
