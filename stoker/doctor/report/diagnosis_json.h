// The doctor's answer for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "stoker/doctor/verdict/diagnosis.h"

namespace stoker {

/// Scripts rely on the keys, which docs/doctor.md explains; none is ever left out.
nlohmann::ordered_json diagnosis_json(const Diagnosis& diagnosis);

}  // namespace stoker
