#include "stoker/ops/picture/warp.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/base/portable_math.h"
#include "stoker/base/words.h"

namespace stoker {
namespace {

constexpr Word<WarpFilter> kWarpFilters[] = {
    {WarpFilter::kNearest, "nearest"}, {WarpFilter::kBilinear, "bilinear"}, {WarpFilter::kBicubic, "bicubic"}};

constexpr double kPi = 0x1.921fb54442d18p1;

constexpr std::size_t kUnknowns = 8;
using Equations = std::array<std::array<double, kUnknowns + 1>, kUnknowns>;

// Gauss's elimination; false if there is not one solution.
bool solve(Equations& equations) {
  for (std::size_t k = 0; k < kUnknowns; ++k) {
    std::size_t pivot = k;
    for (std::size_t row = k + 1; row < kUnknowns; ++row) {
      if (std::abs(equations[row][k]) > std::abs(equations[pivot][k])) pivot = row;
    }
    // Coordinates are pixels: what is left of a singular system is about 1e-10.
    if (std::abs(equations[pivot][k]) < 1e-6) return false;
    std::swap(equations[pivot], equations[k]);
    for (std::size_t row = 0; row < kUnknowns; ++row) {
      if (row == k) continue;
      const double factor = equations[row][k] / equations[k][k];
      for (std::size_t column = k; column <= kUnknowns; ++column) {
        equations[row][column] -= factor * equations[k][column];
      }
    }
  }
  return true;
}

// Exact for multiples of a right angle.
SineCosine sine_cosine_of_degrees(double angle) {
  const double within = std::fmod(angle, 360);
  const double quarters = std::nearbyint(within / 90);
  const auto [sine, cosine] = portable_sine_cosine((within - 90 * quarters) * (kPi / 180));
  switch (static_cast<int>(quarters) & 3) {
    case 0: return {sine, cosine};
    case 1: return {cosine, -sine};
    case 2: return {-sine, -cosine};
    default: return {-cosine, sine};
  }
}

bool may_compose(const PictureStep& a, const PictureStep& b) {
  return a.kind == PictureKind::kWarp && b.kind == PictureKind::kWarp && !a.alone && !b.alone &&
         std::equal(std::begin(a.n), std::end(a.n), std::begin(b.n));
}

}  // namespace

std::optional<PlaneMap> PlaneMap::of_points(const std::array<PlanePoint, 4>& from,
                                            const std::array<PlanePoint, 4>& to) {
  // X / W = to.x and Y / W = to.y, multiplied by W, where the last number of the matrix is 1.
  Equations equations;
  for (std::size_t i = 0; i < 4; ++i) {
    const PlanePoint p = from[i], q = to[i];
    equations[2 * i] = {p.x, p.y, 1, 0, 0, 0, -q.x * p.x, -q.x * p.y, q.x};
    equations[2 * i + 1] = {0, 0, 0, p.x, p.y, 1, -q.y * p.x, -q.y * p.y, q.y};
  }
  if (!solve(equations)) return std::nullopt;
  PlaneMap map;
  for (std::size_t k = 0; k < kUnknowns; ++k) map.m[k] = equations[k][kUnknowns] / equations[k][k];
  return map;
}

double PlaneMap::determinant() const {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) + m[1] * (m[5] * m[6] - m[3] * m[8]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

std::optional<PlaneMap> PlaneMap::inverse() const {
  const std::array<double, 9> adjoint = {
      m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
      m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
      m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  const double divisor = determinant();
  if (divisor == 0) return std::nullopt;
  PlaneMap result;
  for (std::size_t i = 0; i < adjoint.size(); ++i) result.m[i] = adjoint[i] / divisor;
  return result;
}

PlaneMap PlaneMap::after(const PlaneMap& first) const {
  PlaneMap product;
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      product.m[3 * row + column] =
          m[3 * row] * first.m[column] + m[3 * row + 1] * first.m[3 + column] + m[3 * row + 2] * first.m[6 + column];
    }
  }
  return product;
}

PlaneMap AffineChange::source(ImageSize size) const {
  // Rotation after scaling after the shear of y after that of x, inverted; but for the scale the determinant is 1.
  const SineCosine turn = sine_cosine_of_degrees(angle), turn_y = sine_cosine_of_degrees(angle - shear_y);
  const SineCosine of_x = sine_cosine_of_degrees(shear_x), of_y = sine_cosine_of_degrees(shear_y);
  const double tangent_x = of_x.sine / of_x.cosine;
  const double a = turn_y.cosine / of_y.cosine, b = -(a * tangent_x + turn.sine);
  const double c = turn_y.sine / of_y.cosine, d = turn.cosine - c * tangent_x;
  const PlaneMap inverse = {{d / scale, -b / scale, 0, -c / scale, a / scale, 0, 0, 0, 1}};

  // From the middle of the first pixel, the corner is half a pixel away.
  const PlanePoint around = {(center ? center->x : size.width * 0.5) - 0.5,
                             (center ? center->y : size.height * 0.5) - 0.5};
  return PlaneMap::translation(around.x, around.y)
      .after(inverse)
      .after(PlaneMap::translation(-around.x - translate_x, -around.y - translate_y));
}

PlaneMap map_of(const PictureStep& step) {
  PlaneMap map;
  std::copy_n(step.f + WarpStep::kMatrix, map.m.size(), map.m.begin());
  return map;
}

void store_map(const PlaneMap& map, PictureStep& step) {
  for (std::size_t i = 0; i < map.m.size(); ++i) step.f[WarpStep::kMatrix + i] = static_cast<float>(map.m[i]);
}

std::optional<PlanePoint> center_argument(const OperatorCall& call) {
  const std::vector<double>& center = call.numbers("center");
  return center.empty() ? std::nullopt : std::optional(PlanePoint{center[0], center[1]});
}

WarpLook::WarpLook(const OperatorCall& call)
    : filter(value_of(kWarpFilters, call.text("filter"), "not a filter")), fill(fill_argument(call)) {}

void WarpLook::store(PictureStep& step) const {
  step.n[WarpStep::kFilter] = static_cast<std::int32_t>(filter);
  std::copy(fill.begin(), fill.end(), step.n + WarpStep::kFill);
}

void add_warp(const PlaneMap& source, const WarpLook& look, PictureSteps& steps) {
  PictureStep& step = steps.add(PictureKind::kWarp);
  store_map(source, step);
  look.store(step);
}

void compose_warps(PictureSteps& steps) {
  const std::span<PictureStep> all = steps.all();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kept > 0 && may_compose(all[kept - 1], all[i])) {
      // The last one reads the result of those before it.
      store_map(map_of(all[kept - 1]).after(map_of(all[i])), all[kept - 1]);
    } else {
      all[kept++] = all[i];
    }
  }
  steps.shorten(kept);
}

}  // namespace stoker
