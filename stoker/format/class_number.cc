#include "stoker/format/class_number.h"

#include <charconv>
#include <optional>
#include <system_error>

#include "stoker/base/error.h"

namespace stoker {
namespace {

/// A class number as people and tools write it: digits, perhaps with white space around them.
std::optional<std::int64_t> parse_label(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
  std::int64_t label = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), label);
  if (error != std::errc{} || end != text.data() + text.size() || label < 0) return std::nullopt;
  return label;
}

}  // namespace

std::int64_t parse_class_number(std::string_view text, std::uint64_t length, const std::string& source,
                                std::string_view key) {
  if (length <= kClassNumberBytesMax) {
    if (const std::optional<std::int64_t> label = parse_label(text)) return *label;
  }
  fail(ErrorKind::kData, "'{}': the cls field of sample '{}' is '{}', not a class number", source, key,
       text.substr(0, 32));
}

}  // namespace stoker
