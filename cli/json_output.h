// JSON for programs. Names and keys may be any bytes: those that are not UTF-8 are written as {"hex": "63e9"}, as in
// the manifest, so that a program can find the named object.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace stoker {

/// The text in one line.
std::string json_line(const nlohmann::ordered_json& object);

/// One object on standard output. Throws as write_output().
void write_json(const nlohmann::ordered_json& object);

}  // namespace stoker
