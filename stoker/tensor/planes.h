// The components of an image as a JPEG codes them, before they become RGB: brightness and two colour differences, which
// may be coarser than the image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stoker {

/// Rows of planes have this many bytes of readable memory beyond their end.
constexpr std::size_t kPlaneSlack = 64;

/// Interpolation at a window's pixels reads the samples of so many pixels beside it, where samples are half as fine as
/// pixels: one sample on each side.
constexpr int kPixelsBeside = 2;

/// A part of one component, 8 bits a sample. Sample (x, y) of the component stands for the pixels
/// [x * across, (x + 1) * across) x [y * down, (y + 1) * down) of the image, those of them that exist.
struct Plane {
  const std::uint8_t* samples = nullptr;  // the one at (x, y)
  std::ptrdiff_t row_stride = 0;
  int x = 0, y = 0, width = 0, height = 0;  // the part that is held
  int whole_width = 0, whole_height = 0;    // of the component: those of the image over `across` and `down`, rounded up
  int across = 1, down = 1;
  bool smooth = true;  // where samples stand for two pixels, what lies between their centres is interpolated

  /// One of an image of this size, without samples.
  static Plane of(int image_width, int image_height, int across, int down) {
    Plane plane;
    plane.whole_width = (image_width + across - 1) / across;
    plane.whole_height = (image_height + down - 1) / down;
    plane.across = across;
    plane.down = down;
    return plane;
  }

  /// At (column, row) of the whole component, which must be held.
  const std::uint8_t* at(int column, int row) const { return samples + (row - y) * row_stride + (column - x); }
};

struct Planes {
  int count = 0;                 // 1: grey; 3: Y, Cb, Cr as JFIF defines them
  std::array<Plane, 3> plane{};  // 128 means no difference
};

/// Those of an image of this size when it is decoded at 1 / `shrink` of it, in whole blocks of 8 / `shrink` samples a
/// side: 1, 2, 4 or 8. As libjpeg does, a component that is coarser than the image both ways is shrunk less, by
/// blocks of up to 8 samples, so that it need not be enlarged again. None is smooth.
inline Planes shrunk(const Planes& planes, int image_width, int image_height, int shrink) {
  Planes result = planes;
  for (int i = 0; shrink > 1 && i < planes.count; ++i) {
    const Plane& plane = planes.plane[static_cast<std::size_t>(i)];
    int less = 1;
    while (less < shrink && plane.across % (2 * less) == 0 && plane.down % (2 * less) == 0) less *= 2;
    Plane& made = result.plane[static_cast<std::size_t>(i)];
    made = Plane::of(image_width, image_height, plane.across * shrink / less, plane.down * shrink / less);
    made.smooth = false;
  }
  return result;
}

}  // namespace stoker
