// Lines of JSON in what jobs keep of their progress. A line ends in the hash of what stands before it: a torn one is
// told from a whole one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace stoker {

/// What jobs keep has no fractions: a number that is not whole is an error, as what is not JSON is (nlohmann's
/// exceptions).
nlohmann::json parse_whole_json(std::string_view text);

/// With its line feed.
std::string checked_line(const nlohmann::json& json);
/// Of a line without its line feed; nothing if it is torn.
std::optional<nlohmann::json> json_of_line(const std::string& line);

/// Names may hold bytes that are not text: JSON gets them as Latin-1.
std::string to_json_text(std::string_view bytes);
std::string from_json_text(const std::string& text);

}  // namespace stoker
