// "Did you mean ...?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// Of ASCII.
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Of `candidates`, the one spelled most like `word` (by edit distance), or an empty string if none is near.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

/// " (did you mean 'resize'?)", or an empty string if no candidate is near: to append to a sentence.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace stoker
