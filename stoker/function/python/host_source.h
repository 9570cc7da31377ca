// The text of python_host.py: what a process of a function's runs.
#pragma once

#include <string_view>

namespace stoker {

std::string_view python_host_source();

}  // namespace stoker
