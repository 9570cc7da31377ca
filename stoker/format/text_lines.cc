#include "stoker/format/text_lines.h"

#include <algorithm>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/trimmed.h"

namespace stoker {

std::optional<std::vector<TextLine>> read_text_lines(Source& file, std::uint64_t bytes_max) {
  if (file.size() == 0) fail(ErrorKind::kData, "'{}' is empty (0 bytes)", file.name());
  if (file.size() > bytes_max) return std::nullopt;
  const std::string text = read_whole(file);
  const bool is_text = std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f;
  });
  if (!is_text) return std::nullopt;

  std::vector<TextLine> lines;
  int number = 0;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // as some editors begin a text in UTF-8
  for (std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    line = trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    lines.push_back({number, std::string(line)});
  }
  return lines;
}

}  // namespace stoker
