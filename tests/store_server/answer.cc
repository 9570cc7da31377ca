#include "tests/store_server/answer.h"

#include <fmt/format.h>

#include <utility>

namespace stoker {

std::string Answer::opening() const {
  if (status.empty()) return text;
  std::string head = fmt::format("HTTP/1.1 {}\r\n", status);
  for (const auto& [name, value] : fields) head += fmt::format("{}: {}\r\n", name, value);
  return head + "\r\n" + text;
}

Answer Answer::of_status(std::string status, std::string text) {
  Answer answer;
  answer.status = std::move(status);
  answer.fields["Content-Length"] = fmt::to_string(text.size());
  answer.text = std::move(text);
  return answer;
}

}  // namespace stoker
