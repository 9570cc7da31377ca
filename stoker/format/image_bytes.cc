#include "stoker/format/image_bytes.h"

namespace stoker {

std::string_view extension_of_bytes(Bytes beginning) {
  using namespace std::string_view_literals;
  const std::string_view text = as_text(beginning);
  if (text.starts_with("\xff\xd8\xff"sv)) return "jpg";
  if (text.starts_with("\x89PNG\r\n\x1a\n"sv)) return "png";
  if (text.starts_with("RIFF"sv) && text.size() >= 12 && text.substr(8, 4) == "WEBP"sv) return "webp";
  if (text.starts_with("\x93NUMPY"sv)) return "npy";
  if (text.starts_with("II*\0"sv) || text.starts_with("MM\0*"sv)) return "tif";
  if (text.starts_with("\0\0\0\x0CjP  \r\n"sv)) return "jp2";
  if (text.size() >= 12 && text.substr(4, 7) == "ftypavi"sv) return "avif";
  return {};
}

}  // namespace stoker
