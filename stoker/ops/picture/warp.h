// Maps of the plane, from which the warping operators draw steps, and their composition.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "stoker/ops/operator_call.h"
#include "stoker/ops/picture/picture_operator.h"
#include "stoker/ops/picture/warp_meaning.h"

namespace stoker {

struct PlanePoint {
  double x = 0, y = 0;
};

/// A projective map of the plane: (x, y) to (X / W, Y / W), where (X, Y, W) is the matrix times (x, y, 1).
struct PlaneMap {
  std::array<double, 9> m = {1, 0, 0, 0, 1, 0, 0, 0, 1};

  static PlaneMap translation(double x, double y) { return {{1, 0, x, 0, 1, y, 0, 0, 1}}; }
  /// The map of four points to four others; nullopt if three points of either lie on a line.
  static std::optional<PlaneMap> of_points(const std::array<PlanePoint, 4>& from, const std::array<PlanePoint, 4>& to);

  /// The way back; nullopt if several places go to one.
  std::optional<PlaneMap> inverse() const;
  double determinant() const;
  /// This map after `first`.
  PlaneMap after(const PlaneMap& first) const;
};

/// What an affine warp does to a picture, as torchvision's `affine` takes it: it shears, scales and rotates around the
/// center, then translates.
struct AffineChange {
  double angle = 0;  // in degrees, clockwise
  double translate_x = 0, translate_y = 0;
  double scale = 1;
  double shear_x = 0, shear_y = 0;   // in degrees
  std::optional<PlanePoint> center;  // from the picture's upper left corner; nullopt: its middle

  /// Where the input has what the output shows: a map of the plane in which (0, 0) is the middle of the first pixel.
  PlaneMap source(ImageSize size) const;
};

/// How a warp reads the input, and what it shows where there is none.
struct WarpLook {
  WarpFilter filter;
  std::array<std::uint8_t, 3> fill;

  /// The arguments `filter` and `fill` of a checked call.
  explicit WarpLook(const OperatorCall& call);

  void store(PictureStep& step) const;
};

/// For the copy of a picture with a border of two pixels, four bytes each.
inline constexpr PictureBytes kWarpScratch = {.of_pixel = 4, .of_row = 16, .of_column = 16, .at_all = 64};
/// Besides, for ten rows of numbers by column of the lattice, and the vectors that reach past the last one.
inline constexpr PictureBytes kElasticScratch = {
    .of_pixel = 4, .of_row = 16, .of_column = 16 + 10 * 4 * 3 / 5, .at_all = 64 + 10 * 4 * (4 + 16)};

/// An operator that draws one step of kWarp, or none.
class WarpOperator : public PictureOperator {
 public:
  PictureBounds bounds() const override { return {.scratch = kWarpScratch}; }
  bool only_warps() const override { return true; }
};

/// The argument `center` of a checked call: x and y, or nothing.
std::optional<PlanePoint> center_argument(const OperatorCall& call);

/// The map of a step of kWarp.
PlaneMap map_of(const PictureStep& step);
void store_map(const PlaneMap& map, PictureStep& step);

/// Adds a step that shows the input at source(pixel).
void add_warp(const PlaneMap& source, const WarpLook& look, PictureSteps& steps);

/// Makes one step of neighbouring warps by matrices that read and fill the same way, unless one stands alone.
void compose_warps(PictureSteps& steps);

}  // namespace stoker
