// The negative.
#if defined(STOKER_OPS_KERNELS_PICTURE_INVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PICTURE_INVERT_INL_H_
#undef STOKER_OPS_KERNELS_PICTURE_INVERT_INL_H_
#else
#define STOKER_OPS_KERNELS_PICTURE_INVERT_INL_H_
#endif

#include <hwy/highway.h>

#include "stoker/ops/picture/picture_pass.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void invert_picture(const PicturePass& pass) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t count = static_cast<std::size_t>(3 * pass.pixels()), lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Not(hn::LoadU(d, pass.in + i)), d, pass.out + i);
  for (; i < count; ++i) pass.out[i] = static_cast<std::uint8_t>(~pass.in[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
