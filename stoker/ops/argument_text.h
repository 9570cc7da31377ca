// Describes the permitted values of an operator's argument: for `stoker ops`, for Python's help, and for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/ops/operator_table.h"

namespace stoker {

/// "number", "integer", "text", "numbers", "integers", "flag", "operators".
std::string_view type_name(ArgType type);

/// The permitted texts; none where any will do, and for numbers.
std::vector<std::string> choices_of(const ArgSpec& arg);

/// How many numbers a list may have.
std::vector<int> counts_of(const ArgSpec& arg);

/// As recipes may write it, with the four digits that are enough for people: "bilinear", "0.08", "[0.75, 1.333]".
std::string default_text(const ArgSpec& arg);

/// "one of u8, f16, bf16, f32"; "1 or 2 integers, 1 to 65535"; "a number, 0 to 1"; "any text"; "1 to 31
/// operators".
std::string permitted_text(const ArgSpec& arg);

/// The examples of an operator, one by one; for one without arguments the call itself, "".
std::vector<std::string> examples_of(const OperatorSpec& spec);

/// The names in a text that has commas between them.
std::vector<std::string> names_in(std::string_view text);

}  // namespace stoker
