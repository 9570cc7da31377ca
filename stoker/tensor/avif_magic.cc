#include "stoker/tensor/avif_magic.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace stoker {
namespace {

// The box's length and type; its brand, and a version of that; and then those that the file is compatible with.
constexpr std::size_t kBrandAt = 8, kBrandBytes = 4, kCompatibleAt = 16;

}  // namespace

bool has_avif_magic(Bytes encoded) {
  const std::string_view text = as_text(encoded);
  if (text.size() < kBrandAt + kBrandBytes || text.substr(4, 4) != "ftyp") return false;
  const auto is_avif = [&](std::size_t at) {
    const std::string_view brand = text.substr(at, kBrandBytes);
    return brand == "avif" || brand == "avis";
  };
  if (is_avif(kBrandAt)) return true;
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length = length << 8 | encoded[i];
  const std::size_t end = std::min(length, text.size());
  for (std::size_t at = kCompatibleAt; at + kBrandBytes <= end; at += kBrandBytes) {
    if (is_avif(at)) return true;
  }
  return false;
}

}  // namespace stoker
