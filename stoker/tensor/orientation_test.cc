#include <gtest/gtest.h>

#include "stoker/tensor/image_testing.h"
#include "stoker/tensor/orientation.h"

namespace stoker {
namespace {

struct Point {
  int x, y;
};

// Where the upright image's pixel (u, v) is stored, written out from Exif's table of what row 0 and column 0 show.
Point stored_at(int u, int v, int width, int height, int orientation) {
  switch (orientation) {
    case 2: return {width - 1 - u, v};               // top, right
    case 3: return {width - 1 - u, height - 1 - v};  // bottom, right
    case 4: return {u, height - 1 - v};              // bottom, left
    case 5: return {v, u};                           // left, top
    case 6: return {v, height - 1 - u};              // right, top
    case 7: return {width - 1 - v, height - 1 - u};  // right, bottom
    case 8: return {width - 1 - v, u};               // left, bottom
    default: return {u, v};
  }
}

TEST(Orientation, TurnsEveryPixelToItsPlace) {
  const TestImage image = make_test_image(7, 4, 3);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const ImageView upright = oriented(image.view(), static_cast<Orientation>(orientation));
    ASSERT_EQ(upright.width, orientation >= 5 ? 4 : 7);
    ASSERT_EQ(upright.height, orientation >= 5 ? 7 : 4);
    for (int v = 0; v < upright.height; ++v) {
      for (int u = 0; u < upright.width; ++u) {
        const Point p = stored_at(u, v, 7, 4, orientation);
        for (int c = 0; c < 3; ++c) ASSERT_EQ(upright.at(u, v, c), image.view().at(p.x, p.y, c)) << orientation;
      }
    }
  }
}

TEST(Orientation, AWindowOfTheUprightImageIsTheTurnedWindowOfTheStoredOne) {
  const TestImage image = make_test_image(7, 4, 3);
  for (int o = 1; o <= 8; ++o) {
    const auto orientation = static_cast<Orientation>(o);
    const ImageView upright = oriented(image.view(), orientation);
    for (int y = 0; y < upright.height; ++y) {
      for (int x = 0; x < upright.width; ++x) {
        const Rect window{x, y, (upright.width - x + 1) / 2, (upright.height - y + 1) / 2};
        const Rect stored = stored_window(window, 7, 4, orientation);
        ASSERT_EQ(first_difference(oriented(image.view().crop(stored), orientation), upright.crop(window)), "") << o;
      }
    }
  }
}

TEST(Orientation, NumbersThatExifDoesNotKnowLeaveTheImageAlone) {
  const TestImage image = make_test_image(3, 2, 3);
  for (const Orientation orientation : {0, 9, 255}) {
    EXPECT_EQ(first_difference(oriented(image.view(), orientation), image.view()), "");
    EXPECT_EQ(stored_window({1, 0, 2, 1}, 3, 2, orientation), (Rect{1, 0, 2, 1}));
  }
}

}  // namespace
}  // namespace stoker
