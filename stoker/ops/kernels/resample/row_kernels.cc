#include "stoker/ops/kernels/resample/row_kernels.h"

#include "stoker/base/isa.h"
#include "stoker/base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/ops/kernels/resample/row_kernels.cc"
#include <hwy/foreach_target.h>  // includes this file once per instruction set
#include <hwy/highway.h>

#include "stoker/ops/kernels/resample/convert_row-inl.h"
#include "stoker/ops/kernels/resample/interleave-inl.h"
#include "stoker/ops/kernels/resample/resample_horizontal-inl.h"
#include "stoker/ops/kernels/resample/resample_vertical-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

const RowKernels* table_of_target() {
  static constexpr RowKernels kTable = {
      .target = HWY_TARGET,
      .lanes = static_cast<int>(kBlockLanes),
      .deinterleave = deinterleave_row,
      .interleave = interleave_row,
      .narrow = resample_narrow,
      .wide = resample_wide,
      .vertical = resample_vertical,
      .convert = convert_row,
  };
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(table_of_target);

const RowKernels& row_kernels() {
  ensure_isa();
  return *HWY_DYNAMIC_DISPATCH(table_of_target)();
}

}  // namespace stoker
#endif
