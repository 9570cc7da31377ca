#include "stoker/base/words.h"

#include <string>

#include "stoker/base/error.h"

namespace stoker {

void fail_no_word(std::string_view text, std::string_view no_such, const std::vector<std::string_view>& words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    list += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    list += words[i];
  }
  fail(ErrorKind::kUsage, "'{}' is {}; use {}", text, no_such, list);
}

}  // namespace stoker
