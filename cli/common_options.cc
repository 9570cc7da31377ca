#include "cli/common_options.h"

#include <fmt/format.h>

#include "stoker/plan/recipe.h"

namespace stoker {

void add_data_argument(CLI::App& command, std::vector<std::string>& data) {
  command.add_option("DATA", data, "Folder, tar, text file of paths, glob or brace pattern; several are joined")
      ->required()
      ->option_text("...");
}

void add_recipe_option(CLI::App& command, std::string& recipe) {
  command.add_option("--recipe", recipe, fmt::format("Required; {}, or a TOML file", fmt::join(Recipe::names(), ", ")))
      ->required()
      ->option_text("NAME|FILE.toml");
}

void add_threads_option(CLI::App& command, int& threads) {
  const auto parse = [&threads](const std::string& text) {
    threads = 0;
    return text == "auto" || (CLI::detail::lexical_cast(text, threads) && threads > 0);
  };
  command
      .add_option_function<std::string>(
          "--threads",
          [parse](const std::string& text) {
            if (!parse(text))
              throw CLI::ValidationError("--threads", fmt::format("'{}' is neither auto nor a number above 0", text));
          },
          "Worker threads; auto: as many as there are cores to use")
      ->option_text("N|auto");
}

void add_seed_option(CLI::App& command, std::uint64_t& seed) {
  command.add_option("--seed", seed, "Of all random numbers; 0")->check(CLI::NonNegativeNumber)->option_text("S");
}

void add_json_flag(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print one JSON object instead of text");
}

void set_example(CLI::App& command, const std::string& example) { command.footer("Example: " + example); }

}  // namespace stoker
