#include "stoker/tensor/orientation.h"

#include <utility>

namespace stoker {

Turn turn_of(Orientation orientation) {
  switch (orientation) {
    case 2: return {true, false, false};
    case 3: return {true, true, false};
    case 4: return {false, true, false};
    case 5: return {false, false, true};
    case 6: return {false, true, true};
    case 7: return {true, true, true};
    case 8: return {true, false, true};
    default: return {false, false, false};
  }
}

ImageView oriented(ImageView view, Orientation orientation) {
  const Turn turn = turn_of(orientation);
  if (turn.mirror_columns) {
    view.pixels = view.at(view.width - 1, 0);
    view.column_stride = -view.column_stride;
  }
  if (turn.mirror_rows) {
    view.pixels = view.at(0, view.height - 1);
    view.row_stride = -view.row_stride;
  }
  if (turn.transpose) {
    std::swap(view.width, view.height);
    std::swap(view.column_stride, view.row_stride);
  }
  return view;
}

Rect stored_window(Rect upright, int width, int height, Orientation orientation) {
  const Turn turn = turn_of(orientation);
  Rect stored = upright;
  if (turn.transpose) {
    std::swap(stored.x, stored.y);
    std::swap(stored.width, stored.height);
  }
  if (turn.mirror_columns) stored.x = width - stored.x - stored.width;
  if (turn.mirror_rows) stored.y = height - stored.y - stored.height;
  return stored;
}

}  // namespace stoker
