// The bytes of a view of kind kText.
#pragma once

#include <functional>

#include "stoker/base/bytes.h"
#include "stoker/ops/text_options.h"
#include "stoker/tensor/shape.h"

namespace stoker {

/// Writes them to where `place` says for their number. Throws kBadSample for more of them than there may be, a text
/// that is not UTF-8, and JSON that is damaged or has no such text.
void write_field_text(Bytes field, const TextOptions& options,
                      const std::function<MutableBytes(const Shape& shape)>& place);

}  // namespace stoker
