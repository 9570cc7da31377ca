// The order of an image tensor's axes. Threads: a value; many may read it, one may change it.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/tensor/shape.h"

namespace stoker {

enum class Layout : std::uint8_t { kNchw, kNhwc };

inline std::string_view to_string(Layout layout) { return layout == Layout::kNchw ? "nchw" : "nhwc"; }

inline Layout parse_layout(std::string_view name) {
  if (name == "nchw") return Layout::kNchw;
  if (name == "nhwc") return Layout::kNhwc;
  fail(ErrorKind::kUsage, "'{}' is not a layout; use nchw or nhwc", name);
}

/// One sample's shape in the layout (without the batch axis).
inline Shape image_shape(Layout layout, std::int64_t height, std::int64_t width, std::int64_t channels) {
  return layout == Layout::kNchw ? Shape{channels, height, width} : Shape{height, width, channels};
}

}  // namespace stoker
