// Arrays as the reference executor makes them: number by number.
#pragma once

#include <functional>

#include "stoker/ops/array/array_program.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

/// As write_field_array(), from whole fields.
void reference_array(const ArrayProgram& program, int field, const SampleInput& sample,
                     const std::function<MutableBytes(const Shape& shape)>& place);

}  // namespace stoker
