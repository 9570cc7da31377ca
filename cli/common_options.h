// Options that several commands share, so that their names and meanings are the same everywhere.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/parser.h"
#include "stoker/base/error.h"
#include "stoker/codec/image_decoder.h"
#include "stoker/runtime/open.h"

namespace stoker {

/// The range of an option's number, both ends included.
template <std::integral Integer>
struct Range {
  Integer least;
  Integer most = std::numeric_limits<Integer>::max();
};

/// Throws bad usage: "'{text}' is not {what}".
[[noreturn]] void refuse_option(const std::string& name, std::string_view text, const std::string& wanted);

/// Decimal digits, with a minus sign if the range has negative numbers. Any other text is refused with the range. For
/// int, std::int64_t and std::uint64_t.
template <std::integral Integer>
Integer parse_integer(const std::string& name, std::string_view text, Range<Integer> range);

// Each function adds one option; the variable that it fills must outlive the parsing.

template <std::integral Integer>
Option* add_integer_option(Command& command, const std::string& name, Integer& value, Range<Integer> range,
                           const std::string& doc) {
  const auto read = [&value, name, range](const std::string& text) { value = parse_integer(name, text, range); };
  return command.add_option(name, read, doc)->option_text("N");
}

/// For a variable that stays unset without the option.
template <std::integral Integer>
Option* add_integer_option(Command& command, const std::string& name, std::optional<Integer>& value,
                           Range<Integer> range, const std::string& doc) {
  const auto read = [&value, name, range](const std::string& text) { value = parse_integer(name, text, range); };
  return command.add_option(name, read, doc)->option_text("N");
}

/// For any text except the empty one, which usually comes from a script's unset variable.
Option* add_text_option(Command& command, const std::string& name, std::string& value, const std::string& doc);

/// For one of these words.
Option* add_choice_option(Command& command, const std::string& name, std::string& value,
                          const std::vector<std::string>& words, const std::string& doc);

/// Sets `value` to what `parse` makes of the text; an Error of it names the option.
template <typename Value, typename Parse>
Option* add_parsed_option(Command& command, const std::string& name, Value& value, Parse parse,
                          const std::string& doc) {
  const auto read = [&value, name, parse](const std::string& text) {
    try {
      value = parse(text);
    } catch (const Error& error) {
      throw error.with_context(name);
    }
  };
  return command.add_option(name, read, doc);
}

void add_data_argument(Command& command, std::vector<std::string>& data);
/// For a command that can do without; `without` says what it does then.
void add_optional_data_argument(Command& command, std::vector<std::string>& data, std::string_view without);
void add_recipe_option(Command& command, std::string& recipe);
/// For a command that can do without; `need` says when it cannot: "Required for X; ".
Option* add_optional_recipe(Command& command, std::string& recipe, std::string_view need = "");
/// `auto` is 0, as the library takes it.
void add_threads_option(Command& command, int& threads);
void add_seed_option(Command& command, std::uint64_t& seed);
/// Images of more pixels are bad samples.
void add_pixels_option(Command& command, DecodeLimits& limits);
/// The memory of jobs over whole data sets, and the limit on the size of images.
void add_job_options(Command& command, std::optional<std::uint64_t>& memory, DecodeLimits& limits);
/// How the data's shards are read, and where Stoker looks for their indexes.
void add_open_options(Command& command, OpenOptions& open);
void add_store_options(Command& command, StoreOptions& store);
/// Files of tokens.
void add_token_options(Command& command, std::optional<TokenSamples>& tokens);
/// Throws kUsage for an option, among those given to a command with --tokens, that tokens do not have: all but `these`,
/// those of stores, and --json.
void require_for_tokens(const Command& command, std::initializer_list<std::string_view> these);
/// Which fields hold images and labels.
void add_field_options(Command& command, FieldChoice& fields);
void add_json_flag(Command& command, bool& json);

/// The line at the end of a command's help.
void set_example(Command& command, const std::string& example);

}  // namespace stoker
