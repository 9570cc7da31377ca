#include "tests/store_server/xml_answer.h"

#include <fmt/format.h>

#include <utility>

namespace stoker {

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

Answer xml_answer(std::string_view root, std::string status) {
  Answer answer =
      Answer::of_status(std::move(status), fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{}", root));
  answer.fields["Content-Type"] = "application/xml";
  return answer;
}

Answer refusal(std::string status, std::string_view code) {
  return xml_answer(fmt::format("<Error><Code>{0}</Code><Message>{0}</Message></Error>", code), std::move(status));
}

}  // namespace stoker
