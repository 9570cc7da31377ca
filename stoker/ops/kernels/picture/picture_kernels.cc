#include "stoker/ops/kernels/picture/picture_kernels.h"

#include "stoker/base/isa.h"
#include "stoker/base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/ops/kernels/picture/picture_kernels.cc"
#include <hwy/foreach_target.h>  // includes this file once per instruction set
#include <hwy/highway.h>

#include "stoker/ops/kernels/picture/invert-inl.h"
#include "stoker/ops/kernels/picture/linear-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

const PictureKernels* picture_table_of_target() {
  static constexpr PictureKernels kTable = [] {
    PictureKernels table;
    table.target = HWY_TARGET;
    table[PictureKind::kAffine] = run_linear;
    table[PictureKind::kInvert] = invert_picture;
    return table;
  }();
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(picture_table_of_target);

const PictureKernels& picture_kernels() {
  ensure_isa();
  return *HWY_DYNAMIC_DISPATCH(picture_table_of_target)();
}

}  // namespace stoker
#endif
