// What `plan` says about a store over a network.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "stoker/runtime/probe/store_advice.h"

namespace stoker {

/// Some lines: what was measured, what each order is expected to give, and what is recommended.
std::string store_plan_text(const StoreAdvice& advice);
nlohmann::ordered_json store_plan_json(const StoreAdvice& advice);

}  // namespace stoker
