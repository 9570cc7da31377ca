// Options as C has them: "name=value". Threads: any.
#pragma once

#include <string_view>

#include "stoker/runtime/loader_options.h"
#include "stoker/runtime/open.h"

namespace stoker {

/// Both throw kUsage for a text without '=', an unknown name, with the nearest one, and a value that the option does
/// not take.
void set_option(LoaderOptions& options, std::string_view text);
void set_option(OpenOptions& options, std::string_view text);

}  // namespace stoker
