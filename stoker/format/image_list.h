// Several encoded images as one value, as MosaicML Streaming and LitData write them:
//
//   u32  how many there are
//   u32  the bytes of each
//        the images
#pragma once

#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker {

inline constexpr std::size_t kListedImagesMax = 256;

/// Replaces `images` by those of the value `name`. Throws kData, as a clause, if its sizes are not those of its bytes.
void split_image_list(Bytes value, std::string_view name, std::vector<Bytes>& images);

}  // namespace stoker
