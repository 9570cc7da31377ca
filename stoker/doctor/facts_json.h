// Facts as JSON: for `doctor --json`, and for programs that keep them.
#pragma once

#include <nlohmann/json.hpp>

#include "stoker/doctor/facts.h"

namespace stoker {

/// Every field under its own name; what is not known is null.
nlohmann::ordered_json facts_json(const Facts& facts);

/// Of what facts_json() gave; fields that are missing keep their defaults. Throws kData for anything else.
Facts facts_of_json(const nlohmann::ordered_json& json);

}  // namespace stoker
