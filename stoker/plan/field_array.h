// The numbers of a view of kind kArray.
#pragma once

#include <functional>

#include "stoker/ops/array/array_program.h"
#include "stoker/plan/sample_executor.h"
#include "stoker/tensor/shape.h"

namespace stoker {

/// Of a sample's field, whether all of it was read or what the crop needs. Throws kBadSample for what is not an array
/// of numbers. Valid as long as the sample's input.
ArrayLayout array_layout_of(const SampleInput& sample, int field, const std::string& name);

/// Of a field of so many bytes, of which the first kNpyHeaderBytesMax are enough. Throws the same.
ArrayLayout read_field_layout(Bytes beginning, std::uint64_t bytes, const std::string& name);

/// That the arrays that the program's crop goes by fit the one that it crops. Throws kBadSample.
void check_arrays_beside(const ArrayProgram& program, const ArrayLayout& layout, const SampleInput& sample);

/// Writes them to where `place` says for their shape. Throws kBadSample for a field that is not such an array, and
/// numbers that the output's type does not have.
void write_field_array(const ArrayProgram& program, int field, const SampleInput& sample,
                       const std::function<MutableBytes(const Shape& shape)>& place);

}  // namespace stoker
