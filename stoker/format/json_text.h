// Names of files and keys in JSON: they may be any bytes, while JSON holds UTF-8.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace stoker {

bool is_utf8(const std::string& bytes);

/// UTF-8 as it is, other bytes as {"hex": "63e9"}.
nlohmann::ordered_json name_json(const std::string& name);

/// The bytes that name_json() was given. Throws nlohmann's exceptions or std::invalid_argument for anything else.
std::string name_of(const nlohmann::ordered_json& json);
/// The same, from what follows "hex".
std::string name_of_hex(std::string_view digits);

/// The same with every string that is not UTF-8 written so, wherever it stands: it can be dumped.
nlohmann::ordered_json with_names(nlohmann::ordered_json json);

}  // namespace stoker
