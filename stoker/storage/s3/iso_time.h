// Times as web services write them: "2026-11-25T12:00:00Z".
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace stoker {

/// Nothing for a text that is not a time in UTC. A fraction of a second is dropped.
std::optional<std::chrono::sys_seconds> parse_iso_time(std::string_view text);

}  // namespace stoker
