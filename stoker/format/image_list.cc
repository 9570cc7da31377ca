#include "stoker/format/image_list.h"

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {

void split_image_list(Bytes value, std::string_view name, std::vector<Bytes>& images) {
  constexpr std::size_t kNumberBytes = sizeof(std::uint32_t);
  images.clear();
  const std::uint32_t count = value.size() < kNumberBytes ? 0 : load_little_endian<std::uint32_t>(value.data());
  if (count > kListedImagesMax || value.size() < kNumberBytes * (1 + std::size_t{count})) {
    fail(ErrorKind::kData, "its '{}' is said to hold {} images, in {}; up to {} can be read", name, count,
         byte_count(value.size()), kListedImagesMax);
  }
  Bytes rest = value.subspan(kNumberBytes * (1 + std::size_t{count}));
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto length = load_little_endian<std::uint32_t>(value.data() + kNumberBytes * (1 + std::size_t{i}));
    if (length > rest.size()) {
      fail(ErrorKind::kData, "image {} of its '{}' is said to have {}, and {} are left", i, name, byte_count(length),
           rest.size());
    }
    images.push_back(rest.first(length));
    rest = rest.subspan(length);
  }
  if (!rest.empty()) fail(ErrorKind::kData, "{} follow the images of its '{}'", byte_count(rest.size()), name);
}

}  // namespace stoker
