#include "stoker/format/image_bytes.h"

#include <algorithm>
#include <array>

#include "stoker/base/little_endian.h"
#include "stoker/tensor/avif_magic.h"
#include "stoker/tensor/pnm_header.h"

namespace stoker {
namespace {

/// Two letters are not enough to tell one: the headers that follow have few sizes.
bool is_bitmap(Bytes beginning) {
  constexpr std::size_t kHeaderSizeAt = 14;
  if (!as_text(beginning).starts_with("BM") || beginning.size() < kHeaderSizeAt + sizeof(std::uint32_t)) return false;
  constexpr std::array<std::uint32_t, 7> kHeaderSizes = {12, 40, 52, 56, 64, 108, 124};
  const auto size = load_little_endian<std::uint32_t>(beginning.data() + kHeaderSizeAt);
  return std::find(kHeaderSizes.begin(), kHeaderSizes.end(), size) != kHeaderSizes.end();
}

}  // namespace

std::string_view extension_of_bytes(Bytes beginning) {
  using namespace std::string_view_literals;
  const std::string_view text = as_text(beginning);
  if (text.starts_with("\xff\xd8\xff"sv)) return "jpg";
  if (text.starts_with("\x89PNG\r\n\x1a\n"sv)) return "png";
  if (text.starts_with("RIFF"sv) && text.size() >= 12 && text.substr(8, 4) == "WEBP"sv) return "webp";
  if (text.starts_with("\x93NUMPY"sv)) return "npy";
  if (text.starts_with("GIF87a"sv) || text.starts_with("GIF89a"sv)) return "gif";
  if (is_bitmap(beginning)) return "bmp";
  for (const std::string_view tiff : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (text.starts_with(tiff)) return "tif";
  }
  if (text.starts_with("\0\0\0\x0CjP  \r\n\x87\n"sv)) return "jp2";
  if (text.starts_with("\xFF\x4F\xFF\x51"sv)) return "j2k";  // without boxes around it
  if (has_avif_magic(beginning)) return "avif";
  if (has_pnm_header(beginning)) return "pnm";
  return {};
}

}  // namespace stoker
