#include "stoker/base/escaped.h"

#include <fmt/format.h>

namespace stoker {

std::string escaped(std::string_view text) {
  std::string printed;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == '\n') {
      printed += "\\n";
    } else if (byte == '\t') {
      printed += "\\t";
    } else if (byte < ' ' || byte == 0x7f) {
      printed += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {  // U+0080 to U+009F, which some terminals obey
      printed += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      printed += text[i];
    }
  }
  return printed;
}

}  // namespace stoker
