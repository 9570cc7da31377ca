// Pixels of three channels to planes and back.
#if defined(STOKER_OPS_KERNELS_INTERLEAVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_INTERLEAVE_INL_H_
#undef STOKER_OPS_KERNELS_INTERLEAVE_INL_H_
#else
#define STOKER_OPS_KERNELS_INTERLEAVE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void deinterleave_vector(const std::uint8_t* pixels, std::uint8_t* const* planes, std::size_t at) {
  const hn::ScalableTag<std::uint8_t> d;
  hn::Vec<decltype(d)> v0, v1, v2;
  hn::LoadInterleaved3(d, pixels + 3 * at, v0, v1, v2);
  hn::StoreU(v0, d, planes[0] + at);
  hn::StoreU(v1, d, planes[1] + at);
  hn::StoreU(v2, d, planes[2] + at);
}

HWY_INLINE void interleave_vector(const std::uint8_t* const* planes, std::uint8_t* pixels, std::size_t at) {
  const hn::ScalableTag<std::uint8_t> d;
  hn::StoreInterleaved3(hn::LoadU(d, planes[0] + at), hn::LoadU(d, planes[1] + at), hn::LoadU(d, planes[2] + at), d,
                        pixels + 3 * at);
}

// The last vector overlaps the one before it; rows shorter than a vector go pixel by pixel.
void deinterleave_row(const std::uint8_t* pixels, std::size_t count, std::uint8_t* const* planes) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<std::uint8_t>());
  std::size_t at = 0;
  if (count >= lanes) {
    for (; at + lanes <= count; at += lanes) deinterleave_vector(pixels, planes, at);
    if (at < count) deinterleave_vector(pixels, planes, count - lanes);
    return;
  }
  for (; at < count; ++at) {
    for (std::size_t c = 0; c < 3; ++c) planes[c][at] = pixels[3 * at + c];
  }
}

void interleave_row(const std::uint8_t* const* planes, std::size_t count, std::uint8_t* pixels) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<std::uint8_t>());
  std::size_t at = 0;
  if (count >= lanes) {
    for (; at + lanes <= count; at += lanes) interleave_vector(planes, pixels, at);
    if (at < count) interleave_vector(planes, pixels, count - lanes);
    return;
  }
  for (; at < count; ++at) {
    for (std::size_t c = 0; c < 3; ++c) pixels[3 * at + c] = planes[c][at];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
