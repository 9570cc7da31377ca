#define STOKER_SIMD_AVX3_DL
#include "stoker/ops/kernels/planar/planar_kernels.h"

#include "stoker/base/isa.h"
#include "stoker/base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/ops/kernels/planar/planar_kernels.cc"
#include <hwy/foreach_target.h>  // includes this file once per instruction set
#include <hwy/highway.h>

// Highway names AVX3_DL for VNNI among others, but 1.0.3 does not tell compilers of it, as 1.0.7 does. (Vectors of 512
// bits alone use it: narrower ones could become AVX-VNNI, which 1.0.3 tells them of though not every such machine has
// it.)
#if HWY_TARGET == HWY_AVX3_DL && !defined(HWY_TARGET_STR_AVX3_DL)
#undef HWY_TARGET_STR
#define HWY_TARGET_STR \
  HWY_TARGET_STR_AVX3  \
  ",vpclmulqdq,avx512vbmi,avx512vbmi2,vaes,avxvnni,avx512bitalg,avx512vpopcntdq,avx512vnni"
#endif

#include "stoker/ops/kernels/planar/planar_bilinear-inl.h"
#include "stoker/ops/kernels/planar/planar_color-inl.h"
#include "stoker/ops/kernels/planar/planar_columns-inl.h"
#include "stoker/ops/kernels/planar/planar_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

const PlanarKernels* planar_table_of_target() {
  static constexpr PlanarKernels kTable = {
    .target = HWY_TARGET,
    .block = kPlanarBlock,
    .window = kPlanarWindow,
    .bilinear = planar_bilinear,
    .rows8 = planar_rows8,
    .rows16 = planar_rows16,
    .columns8 = planar_columns8,
    .columns16 = planar_columns16,
#if STOKER_PLANAR_FUSED
    .finish = planar_finish,
#else
    .finish = nullptr,
#endif
    .color = planar_color,
    .interleave = planar_interleave,
  };
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(planar_table_of_target);

const PlanarKernels& planar_kernels() {
  ensure_isa();
  return *HWY_DYNAMIC_DISPATCH(planar_table_of_target)();
}

}  // namespace stoker
#endif
