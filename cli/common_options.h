// Options that several commands share, so that they are called and mean the same everywhere.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace stoker {

// Each adds one option; what it fills must outlive the parsing.
void add_data_argument(CLI::App& command, std::vector<std::string>& data);
void add_recipe_option(CLI::App& command, std::string& recipe);
/// `auto` is 0, as the library takes it.
void add_threads_option(CLI::App& command, int& threads);
void add_seed_option(CLI::App& command, std::uint64_t& seed);
void add_json_flag(CLI::App& command, bool& json);

/// The line at the end of a command's help.
void set_example(CLI::App& command, const std::string& example);

}  // namespace stoker
