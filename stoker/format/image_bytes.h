// Formats whose values have no file names tell images from other bytes by how they begin.
#pragma once

#include <cstddef>
#include <string_view>

#include "stoker/base/bytes.h"

namespace stoker {

inline constexpr std::size_t kImageBeginningBytes = 64;

/// The extension of a file that begins so: "jpg", "png", "webp", "npy", "gif", "bmp", "tif", "jp2", "j2k", "avif",
/// "pnm"; empty for all else. The decoders take the same beginnings for images, except that a PNM needs its whole
/// header here. A beginning of kImageBeginningBytes is enough, unless comments make that header longer, or AVIF is
/// named after twelve other brands.
std::string_view extension_of_bytes(Bytes beginning);

}  // namespace stoker
