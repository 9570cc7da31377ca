// Options that several commands share, so that they are called and mean the same everywhere.
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/runtime/open.h"

namespace stoker {

/// From where to where an option's number may lie, both ends included.
template <std::integral Integer>
struct Range {
  Integer least;
  Integer most = std::numeric_limits<Integer>::max();
};

/// Bad usage: says what `text` is not.
[[noreturn]] void refuse_option(const std::string& name, std::string_view text, const std::string& wanted);

/// Decimal digits, with a minus sign where the range has negative numbers. Whatever else is refused, with the range.
template <std::integral Integer>
Integer parse_integer(const std::string& name, std::string_view text, Range<Integer> range) {
  Integer value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < range.least || value > range.most) {
    refuse_option(name, text, fmt::format("a whole number from {} to {}", range.least, range.most));
  }
  return value;
}

// Each adds one option; what it fills must outlive the parsing.

template <std::integral Integer>
CLI::Option* add_integer_option(CLI::App& command, const std::string& name, Integer& value, Range<Integer> range,
                                const std::string& doc) {
  const auto read = [&value, name, range](const std::string& text) { value = parse_integer(name, text, range); };
  return command.add_option_function<std::string>(name, read, doc)->option_text("N");
}

/// For what stays unset without the option.
template <std::integral Integer>
CLI::Option* add_integer_option(CLI::App& command, const std::string& name, std::optional<Integer>& value,
                                Range<Integer> range, const std::string& doc) {
  const auto read = [&value, name, range](const std::string& text) { value = parse_integer(name, text, range); };
  return command.add_option_function<std::string>(name, read, doc)->option_text("N");
}

/// For any text but the empty one, which a script's unset variable leaves.
CLI::Option* add_text_option(CLI::App& command, const std::string& name, std::string& value, const std::string& doc);

/// Sets `value` to what `parse` makes of the text; an Error of it names the option.
template <typename Value, typename Parse>
CLI::Option* add_parsed_option(CLI::App& command, const std::string& name, Value& value, Parse parse,
                               const std::string& doc) {
  const auto read = [&value, name, parse](const std::string& text) {
    try {
      value = parse(text);
    } catch (const Error& error) {
      throw error.with_context(name);
    }
  };
  return command.add_option_function<std::string>(name, read, doc);
}

void add_data_argument(CLI::App& command, std::vector<std::string>& data);
void add_recipe_option(CLI::App& command, std::string& recipe);
/// `auto` is 0, as the library takes it.
void add_threads_option(CLI::App& command, int& threads);
void add_seed_option(CLI::App& command, std::uint64_t& seed);
/// How the data's shards are read, and where their indexes are looked for.
void add_open_options(CLI::App& command, OpenOptions& open);
void add_json_flag(CLI::App& command, bool& json);

/// The line at the end of a command's help.
void set_example(CLI::App& command, const std::string& example);

}  // namespace stoker
