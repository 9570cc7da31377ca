// The contact sheet of one operator: what it makes of samples, by arguments from weak to strong.
#pragma once

#include <cstdint>
#include <memory>

#include "cli/contact_sheet.h"
#include "stoker/format/dataset.h"
#include "stoker/ops/operator_table.h"

namespace stoker {

/// One row for each of the first `count` samples, and one column for each picture that an example makes. Throws kUsage
/// for an operator that changes nothing to be seen, and what a Loader throws.
RgbImage operator_sheet(const OperatorSpec& spec, const std::shared_ptr<const Dataset>& dataset, int count,
                        std::uint64_t seed);

}  // namespace stoker
