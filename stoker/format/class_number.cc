#include "stoker/format/class_number.h"

#include <algorithm>
#include <cmath>

#include "stoker/base/log.h"
#include "stoker/base/parse_number.h"
#include "stoker/base/trimmed.h"
#include "stoker/base/units.h"

namespace stoker {

std::optional<std::int64_t> parse_whole_number(std::string_view text, std::uint64_t length) {
  if (length > kClassNumberBytesMax) return std::nullopt;
  text = trimmed(text);
  if (const std::size_t point = text.find('.'); point != std::string_view::npos) {
    const std::string_view fraction = text.substr(point + 1);
    if (fraction.empty() || fraction.find_first_not_of('0') != std::string_view::npos) return std::nullopt;
    text = text.substr(0, point);
  }
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return parse_number<std::int64_t>(text);
}

std::optional<std::int64_t> parse_class_number(std::string_view text, std::uint64_t length) {
  const std::optional<std::int64_t> number = parse_whole_number(text, length);
  return number && *number >= 0 ? number : std::nullopt;
}

bool is_fractional_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::optional<double> number = parse_number<double>(text);
  return number && std::isfinite(*number) && *number != std::trunc(*number);
}

std::int64_t ClassNumbers::label_of(std::string_view text, std::uint64_t length, std::string_view key) {
  const std::optional<std::int64_t> number = parse_whole_number(text, length);
  if (!number && unread_++ == 0) first_ = key;
  return std::max<std::int64_t>(number.value_or(-1), -1);
}

void ClassNumbers::warn(std::string_view shard) const {
  if (unread_ == 0) return;
  log(LogLevel::kWarning,
      "'{}': {} without a label, for the field 'cls' is not a class number (classes by name: "
      "label_field='cls', or --label-field cls); the first is '{}'",
      shard, counted(unread_, "sample"), first_);
}

}  // namespace stoker
