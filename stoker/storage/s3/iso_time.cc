#include "stoker/storage/s3/iso_time.h"

#include <cstddef>
#include <string>

#include "stoker/base/parse_number.h"

namespace stoker {

std::optional<std::chrono::sys_seconds> parse_iso_time(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (text.ends_with("+00:00") || text.ends_with("-00:00")) {
    text.remove_suffix(6);
  } else if (text.ends_with('Z')) {
    text.remove_suffix(1);
  } else {
    return std::nullopt;
  }
  if (text.size() < kForm.size()) return std::nullopt;
  for (std::size_t at = 0; at < kForm.size(); ++at) {
    const bool digit = text[at] >= '0' && text[at] <= '9';
    if (kForm[at] == '0' ? !digit : text[at] != kForm[at]) return std::nullopt;
  }
  const std::string_view fraction = text.substr(kForm.size());
  if (!fraction.empty() &&
      (fraction.size() < 2 || fraction[0] != '.' || fraction.find_first_not_of("0123456789", 1) != std::string::npos)) {
    return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t digits) { return *parse_number<int>(text.substr(at, digits)); };
  const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  const std::chrono::year_month_day date(std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2))));
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

}  // namespace stoker
