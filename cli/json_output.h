// One JSON object on standard output, for programs.
#pragma once

#include <nlohmann/json.hpp>

namespace stoker {

/// Bytes of names that are not UTF-8 become replacement characters. Throws as write_output().
void write_json(const nlohmann::ordered_json& object);

}  // namespace stoker
