#include "stoker/ops/kernels/resample/plane_rows.h"

#include <cstring>

#include "stoker/ops/kernels/resample/row_kernels.h"

namespace stoker {

void split_row(const ImageView& view, int x, int y, int count, std::uint8_t* const* planes) {
  const auto size = static_cast<std::size_t>(count);
  if (view.interleaved() && view.channels == 3) return row_kernels().deinterleave(view.at(x, y), size, planes);
  for (int c = 0; c < view.channels; ++c) {
    const std::uint8_t* from = view.at(x, y, c);
    if (view.column_stride == 1) {
      std::memcpy(planes[c], from, size);
    } else {
      for (std::size_t i = 0; i < size; ++i, from += view.column_stride) planes[c][i] = *from;
    }
  }
}

void merge_row(const std::uint8_t* const* planes, const MutableImageView& view, int x, int y, int count) {
  const auto size = static_cast<std::size_t>(count);
  if (view.interleaved() && view.channels == 3) return row_kernels().interleave(planes, size, view.at(x, y));
  for (int c = 0; c < view.channels; ++c) {
    std::uint8_t* to = view.at(x, y, c);
    if (view.column_stride == 1) {
      std::memcpy(to, planes[c], size);
    } else {
      for (std::size_t i = 0; i < size; ++i, to += view.column_stride) *to = planes[c][i];
    }
  }
}

}  // namespace stoker
