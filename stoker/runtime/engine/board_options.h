// From a loader's options to its board's.
#pragma once

#include "stoker/format/dataset.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/board/board.h"
#include "stoker/runtime/engine/memory_plan.h"
#include "stoker/runtime/resolved_options.h"

namespace stoker {

/// Throws as check_prefetch() does.
BoardOptions board_options(const Dataset& dataset, const Plan& plan, const ResolvedOptions& options,
                           const MemoryPlan& memory);

}  // namespace stoker
