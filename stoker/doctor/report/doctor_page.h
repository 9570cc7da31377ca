// The doctor's answer as one page for people: a verdict, charts, what would help, and all that was measured.
#pragma once

#include <string>

#include "stoker/doctor/verdict/diagnosis.h"

namespace stoker {

/// A ReportPage.
std::string doctor_page_html(const Diagnosis& diagnosis);

}  // namespace stoker
