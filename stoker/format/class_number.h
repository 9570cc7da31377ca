// A sample's class number as its field "cls" holds it: the same rule for tars and for loose files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker {

/// More bytes than a number and the white space around it have.
inline constexpr std::size_t kClassNumberBytesMax = 64;

/// `text` is the field's beginning, `length` its length in all. Throws kData naming the source and the sample's key for
/// what is no class number.
std::int64_t parse_class_number(std::string_view text, std::uint64_t length, const std::string& source,
                                std::string_view key);

}  // namespace stoker
