// Formats whose values have no file names tell images from other bytes by how they begin.
#pragma once

#include <string_view>

#include "stoker/base/bytes.h"

namespace stoker {

/// The extension of a file that begins so: "jpg", "png", "webp", "npy", "gif", "bmp"; empty for all else. A few bytes
/// are enough.
std::string_view extension_of_bytes(Bytes beginning);

}  // namespace stoker
