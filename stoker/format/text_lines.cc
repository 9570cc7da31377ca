#include "stoker/format/text_lines.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/storage/file_source.h"

namespace stoker {

std::optional<std::vector<TextLine>> read_text_lines(const std::string& path, std::uint64_t bytes_max) {
  FileSource source(path, std::make_shared<InlineExecutor>());
  if (source.size() == 0) fail(ErrorKind::kData, "'{}' is empty (0 bytes)", path);
  if (source.size() > bytes_max) return std::nullopt;
  std::string text(source.size(), '\0');
  read_fully(source, 0, MutableBytes(reinterpret_cast<std::uint8_t*>(text.data()), text.size()));
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
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') continue;
    lines.push_back({number, std::string(line.substr(first, line.find_last_not_of(" \t\r") + 1 - first))});
  }
  return lines;
}

}  // namespace stoker
