#include "stoker/ops/kernels/mix/blend_kernel.h"

#include "stoker/base/isa.h"
#include "stoker/base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/ops/kernels/mix/blend_kernel.cc"
#include <hwy/foreach_target.h>  // includes this file once per instruction set
#include <hwy/highway.h>

#include "stoker/ops/kernels/mix/blend-inl.h"

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(blend_elements);

void blend(const BlendInputs& inputs, std::size_t count, DType dtype, std::uint8_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(blend_elements)(inputs, count, dtype, out);
}

}  // namespace stoker
#endif
