// The environment variables of a process, as a function, so that tests can give others.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace stoker {

/// The value of a variable; nothing if it is not set, or empty.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

/// That of this process.
Environment process_environment();

}  // namespace stoker
