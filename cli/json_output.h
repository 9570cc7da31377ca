// JSON for programs. Names and keys may be any bytes: those that are no UTF-8 are written as {"hex": "63e9"}, as the
// manifest does, so that a program can find what they name.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace stoker {

/// In one line.
std::string json_line(const nlohmann::ordered_json& object);

/// One object on standard output. Throws as write_output().
void write_json(const nlohmann::ordered_json& object);

}  // namespace stoker
