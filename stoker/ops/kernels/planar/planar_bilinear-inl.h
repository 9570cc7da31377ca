// The set-up of planar mode's bilinear weights, a vector of outputs at a time, in integers of 32 bits (docs/pixels.md,
// steps 2 to 4). build_planar_taps() says when those are enough.
#if defined(STOKER_OPS_KERNELS_PLANAR_BILINEAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_PLANAR_BILINEAR_INL_H_
#undef STOKER_OPS_KERNELS_PLANAR_BILINEAR_INL_H_
#else
#define STOKER_OPS_KERNELS_PLANAR_BILINEAR_INL_H_
#endif

#include <hwy/highway.h>

#include "stoker/ops/kernels/planar/planar_ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE SumVec integers(std::int64_t value) { return hn::Set(Sums32(), static_cast<std::int32_t>(value)); }

// floor(a / b) from an estimate that is this or one less; `a` may have wrapped around, what is left of it has not.
HWY_INLINE SumVec corrected_quotient(SumVec estimate, SumVec a, SumVec b) {
  const auto rest = hn::Sub(a, hn::Mul(estimate, b));
  return hn::Add(estimate, hn::IfThenZeroElse(hn::Lt(rest, b), hn::Set(Sums32(), 1)));
}

// The weights of pixels x, x + 1, ...: max(0, S - |d|), and 0 beyond the crop.
HWY_INLINE void weigh_pixels(const PlanarGrid& grid, SumVec center, SumVec x, int pixels, SumVec* HWY_RESTRICT u) {
  const auto support = integers(grid.support), width = integers(2 * grid.half_pixel), end = integers(grid.pixels);
  auto distance = hn::Sub(hn::Add(hn::Mul(x, width), integers(grid.half_pixel)), center);
  for (int k = 0; k < pixels; ++k) {
    const auto weight = hn::Max(hn::Zero(Sums32()), hn::Sub(support, hn::Abs(distance)));
    u[k] = hn::IfThenElseZero(hn::Lt(x, end), weight);
    distance = hn::Add(distance, width);
    x = hn::Add(x, hn::Set(Sums32(), 1));
  }
}

// Of pixels from X on, u[2] being that of X, to samples from `first` on.
HWY_INLINE SumVec compose_pairs(const PlanarGrid& grid, SumVec pixel, const SumVec* HWY_RESTRICT u, int samples,
                                SumVec* HWY_RESTRICT v) {
  const Sums32 d;
  const auto one = hn::Set(d, 1), zero = hn::Zero(d);
  auto first = hn::Sub(hn::ShiftRight<1>(hn::Add(pixel, one)), one);
  const auto odd = hn::Eq(hn::And(pixel, one), one);
  const auto spread = [](SumVec before, SumVec a, SumVec b, SumVec after) HWY_ATTR {
    const auto own = hn::Add(a, b);
    return hn::Add(hn::Add(hn::Add(own, own), own), hn::Add(before, after));
  };
  for (int k = 0; k < samples; ++k, u += 2) {
    // Sample first + k is that of pixels X - 2 + 2k and the next if X is even, X - 1 + 2k and the next if it is odd.
    v[k] = hn::IfThenElse(odd, spread(u[0], u[1], u[2], u[3]), spread(u[-1], u[0], u[1], u[2]));
  }
  if (const auto before = hn::Lt(first, zero); !hn::AllFalse(d, before)) {  // of the image's edge
    v[1] = hn::Add(v[1], hn::IfThenElseZero(before, v[0]));
    for (int k = 0; k + 1 < samples; ++k) v[k] = hn::IfThenElse(before, v[k + 1], v[k]);
    v[samples - 1] = hn::IfThenElse(before, zero, v[samples - 1]);
    first = hn::Max(first, zero);
  }
  const auto last = integers(grid.whole_length - 1);
  if (hn::AllFalse(d, hn::Gt(hn::Add(first, hn::Set(d, samples - 1)), last))) return first;
  for (int k = samples - 1; k > 0; --k) {
    const auto beyond = hn::Gt(hn::Add(first, hn::Set(d, k)), last);
    v[k - 1] = hn::Add(v[k - 1], hn::IfThenElseZero(beyond, v[k]));
    v[k] = hn::IfThenElse(beyond, zero, v[k]);
  }
  return first;
}

void planar_bilinear(PlanarBilinear& job) {
  const Sums32 d;
  const Values32 df;
  const hn::Rebind<std::int16_t, Sums32> d16;
  const PlanarGrid& grid = *job.grid;
  const bool halved = grid.halved;
  const int pixels = static_cast<int>((grid.support + grid.half_pixel - 1) / grid.half_pixel);
  const int samples = halved ? (pixels + 2) / 2 + 1 : pixels;
  constexpr int kUnused = 4;  // on either side of the pixels' weights
  SumVec u[kPlanarBilinearTapsMax + 2 * kUnused], v[kPlanarBilinearTapsMax];
  const auto zero = hn::Zero(d), one = hn::Set(d, 1), width = integers(2 * grid.half_pixel);
  const auto inverse_width = hn::Set(df, 1.0f / static_cast<float>(2 * grid.half_pixel));
  for (int k = 0; k < pixels + 2 * kUnused; ++k) u[k] = zero;
  auto begin = integers(grid.whole_length), last = zero, last_tap = zero;
  for (std::size_t o = 0; o < job.stride; o += kPlanarLanes) {
    const auto output = hn::Min(hn::Iota(d, static_cast<std::int32_t>(o)), integers(grid.shown - 1));
    const auto column = hn::Add(integers(grid.first_column), hn::Mul(output, integers(grid.column_step)));
    const auto center =
        hn::Add(hn::Mul(hn::Add(hn::Add(column, column), one), integers(grid.half_column)), integers(grid.begin));
    const auto left = hn::Max(zero, hn::Add(center, integers(grid.half_pixel - grid.support)));
    // There are fewer than 2^16 pixels, so that float32 is wrong by less than the twentieth that is taken off.
    const auto near = hn::Sub(hn::Mul(hn::ConvertTo(df, left), inverse_width), hn::Set(df, 0.05f));
    const auto x = corrected_quotient(hn::ConvertTo(d, near), left, width);
    weigh_pixels(grid, center, x, pixels, u + kUnused);
    auto first = hn::Add(x, integers(grid.origin));
    const SumVec* weights = u + kUnused;
    if (halved) {
      first = compose_pairs(grid, first, u + kUnused - 2, samples, v);
      weights = v;
    }
    auto total = weights[0];
    for (int k = 1; k < samples; ++k) total = hn::Add(total, weights[k]);
    const auto factor = hn::Div(hn::Set(df, 256.0f), hn::ConvertTo(df, total));
    const auto half = hn::ShiftRight<1>(total);
    auto sum = zero, before = zero, single = zero;
    for (int k = 0; k < samples; ++k) {
      sum = hn::Add(sum, weights[k]);
      // Without the half that is to be added, this is right or one too small.
      const auto estimate = hn::ConvertTo(d, hn::Mul(hn::ConvertTo(df, sum), factor));
      const auto upto = corrected_quotient(estimate, hn::Add(hn::ShiftLeft<8>(sum), half), total);
      auto weight = hn::Sub(upto, before);
      before = upto;
      const auto here = hn::Set(d, k);
      last = hn::Max(last, hn::IfThenElseZero(hn::Gt(weight, zero), hn::Add(first, here)));
      if (k > 0) {  // a single weight of 256 comes first
        const auto all = hn::Eq(weight, hn::Set(d, 256));
        single = hn::IfThenElse(all, here, single);
        weight = hn::IfThenZeroElse(all, weight);
      }
      last_tap = hn::Max(last_tap, hn::IfThenElseZero(hn::Gt(weight, zero), here));
      hn::StoreU(hn::DemoteTo(d16, weight), d16, job.weights + static_cast<std::size_t>(k) * job.stride + o);
    }
    first = hn::Add(first, single);
    begin = hn::Min(begin, first);
    hn::StoreU(first, d, job.first + o);
    const auto moved = hn::Gt(single, zero);
    if (hn::AllFalse(d, moved)) continue;
    const auto weight = hn::PromoteTo(d, hn::LoadU(d16, job.weights + o));
    hn::StoreU(hn::DemoteTo(d16, hn::IfThenElse(moved, hn::Set(d, 256), weight)), d16, job.weights + o);
  }
  job.taps = hn::GetLane(hn::MaxOfLanes(d, last_tap)) + 1;
  job.source_begin = hn::GetLane(hn::MinOfLanes(d, begin));
  job.source_end = hn::GetLane(hn::MaxOfLanes(d, last)) + 1;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
