#include "stoker/pack/checked_line.h"

#include <nlohmann/json.hpp>

#include "stoker/base/hash.h"

namespace stoker {

using Json = nlohmann::json;

Json parse_whole_json(std::string_view text) {
  return Json::parse(text, [](int, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::value && value.is_number_float()) {
      throw Json::out_of_range::create(406, "a number is not whole", &value);
    }
    return true;
  });
}

std::string checked_line(const Json& json) {
  const std::string text = json.dump();
  return text + "\t" + to_hex(hash64(text)) + "\n";
}

std::optional<Json> json_of_line(const std::string& line) {
  const std::size_t tab = line.rfind('\t');
  if (tab == std::string::npos) return std::nullopt;
  const std::string text = line.substr(0, tab);
  if (line.substr(tab + 1) != to_hex(hash64(text))) return std::nullopt;
  return parse_whole_json(text);
}

std::string to_json_text(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

std::string from_json_text(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80 || i + 1 == text.size()) {
      bytes += text[i];
    } else {
      bytes += static_cast<char>((byte & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
    }
  }
  return bytes;
}

}  // namespace stoker
