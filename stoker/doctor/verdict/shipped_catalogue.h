// The text of stoker/doctor/catalogue.toml as the build found it: cmake/shipped_text.cmake writes the source of
// this.
#pragma once

#include <string_view>

namespace stoker {

std::string_view shipped_catalogue();

}  // namespace stoker
