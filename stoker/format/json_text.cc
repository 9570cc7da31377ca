#include "stoker/format/json_text.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "stoker/base/parse_number.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

bool is_utf8(const std::string& bytes) {
  try {
    Json(bytes).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

Json name_json(const std::string& name) {
  if (is_utf8(name)) return name;
  std::string digits;
  for (const char c : name) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return {{"hex", digits}};
}

std::string name_of(const Json& json) {
  if (!json.is_object()) return json;
  return name_of_hex(json.at("hex").get_ref<const std::string&>());
}

std::string name_of_hex(std::string_view digits) {
  std::string name;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    const std::optional<unsigned> byte = parse_number<unsigned>(digits.substr(at, 2), 16);
    if (!byte || digits.size() - at < 2)
      throw std::invalid_argument("a name's bytes are not pairs of hexadecimal digits");
    name += static_cast<char>(*byte);
  }
  return name;
}

Json with_names(Json json) {
  if (json.is_string()) return name_json(json.get_ref<const std::string&>());
  if (json.is_structured()) {
    for (Json& part : json) part = with_names(std::move(part));
  }
  return json;
}

}  // namespace stoker
