#include "stoker/ops/kernels/device/device_color.h"

#include <algorithm>

#include "stoker/ops/color_map.h"
#include "stoker/ops/planar_color.h"

namespace stoker {

DeviceColor::DeviceColor(const ColorMap& map, const TensorFormat& format, int tensor_width, int tensor_height)
    : dtype(format.dtype),
      interleaved(format.layout == Layout::kNhwc),
      width(tensor_width),
      height(tensor_height),
      out_begin(0),
      slot_bytes(tensor_bytes()) {
  const PlanarColor planar(map);
  std::copy(planar.scale.begin(), planar.scale.end(), scale);
  std::copy(planar.bias.begin(), planar.bias.end(), bias);
  std::copy(planar.from_cb.begin(), planar.from_cb.end(), from_cb);
  std::copy(planar.from_cr.begin(), planar.from_cr.end(), from_cr);
  std::copy(planar.low.begin(), planar.low.end(), low);
  std::copy(planar.high.begin(), planar.high.end(), high);
  std::copy(map.bias.begin(), map.bias.end(), rgb_bias);
  std::copy(map.from.begin(), map.from.end(), from);
}

}  // namespace stoker
