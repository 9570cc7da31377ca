#include "stoker/codec/first_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace stoker {
namespace {

using namespace std::string_view_literals;

struct Opening {
  std::size_t at;
  std::string_view bytes, name;
};

constexpr Opening kOpenings[] = {
    {0, "GIF8"sv, "a GIF image"},         {0, "BM"sv, "a BMP image"},           {0, "II*\0"sv, "a TIFF image"},
    {0, "MM\0*"sv, "a TIFF image"},       {4, "ftypavif"sv, "an AVIF image"},   {4, "ftyphei"sv, "a HEIF image"},
    {0, "\xFF\x0A"sv, "a JPEG XL image"}, {4, "JXL \r\n"sv, "a JPEG XL image"}, {4, "jP  \r\n"sv, "a JPEG 2000 image"},
    {0, "8BPS"sv, "a Photoshop image"},   {0, "%PDF"sv, "a PDF document"},      {0, "<html"sv, "an HTML page"},
    {0, "<!DOCTYPE"sv, "an HTML page"},   {0, "<?xml"sv, "an XML document"},    {0, "\x1F\x8B"sv, "gzip data"},
    {0, "PK\x03\x04"sv, "a ZIP archive"},
};

bool is_text(std::uint8_t byte) {
  return (byte >= 0x20 && byte < 0x7F) || byte == '\t' || byte == '\n' || byte == '\r';
}

}  // namespace

std::string describe_first_bytes(Bytes encoded) {
  if (encoded.empty()) return "it is empty (0 bytes)";
  const std::string_view text = as_text(encoded);
  for (const Opening& opening : kOpenings) {
    if (text.size() >= opening.at && text.substr(opening.at).starts_with(opening.bytes)) {
      return fmt::format("it looks like {}", opening.name);
    }
  }
  const Bytes first = encoded.first(std::min<std::size_t>(encoded.size(), 64));
  if (std::all_of(first.begin(), first.end(), is_text)) return "it looks like text";
  return fmt::format("its first bytes are {:02x}", fmt::join(first.first(std::min<std::size_t>(first.size(), 8)), " "));
}

}  // namespace stoker
