// The doctor's answer in a terminal.
#pragma once

#include <string>

#include "stoker/doctor/verdict/diagnosis.h"

namespace stoker {

/// The verdict first, in one line.
std::string doctor_text(const Diagnosis& diagnosis);

}  // namespace stoker
