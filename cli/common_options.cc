#include "cli/common_options.h"

#include <fmt/format.h>

#include "stoker/plan/recipe.h"

namespace stoker {

void refuse_option(const std::string& name, std::string_view text, const std::string& wanted) {
  constexpr std::size_t kShown = 40;
  const std::string shown = text.size() <= kShown ? std::string(text) : fmt::format("{}...", text.substr(0, kShown));
  throw CLI::ValidationError(name, fmt::format("'{}' is not {}", shown, wanted));
}

CLI::Option* add_text_option(CLI::App& command, const std::string& name, std::string& value, const std::string& doc) {
  const auto not_empty = [](const std::string& text) { return text.empty() ? "its value is empty" : ""; };
  return command.add_option(name, value, doc)->check(CLI::Validator(not_empty, "", ""));
}

void add_data_argument(CLI::App& command, std::vector<std::string>& data) {
  command.add_option("DATA", data, "Folder, tar, text file of paths, glob or brace pattern; several are joined")
      ->required()
      ->option_text("...");
}

void add_recipe_option(CLI::App& command, std::string& recipe) {
  add_text_option(command, "--recipe", recipe,
                  fmt::format("Required; {}, or a TOML file", fmt::join(Recipe::names(), ", ")))
      ->required()
      ->option_text("NAME|FILE.toml");
}

void add_threads_option(CLI::App& command, int& threads) {
  const auto read = [&threads](const std::string& text) {
    threads = text == "auto" ? 0 : parse_integer<int>("--threads", text, {1});
  };
  command
      .add_option_function<std::string>("--threads", read,
                                        "Worker threads; auto: as tuned, or as many as there are cores to use")
      ->option_text("N|auto");
}

void add_seed_option(CLI::App& command, std::uint64_t& seed) {
  add_integer_option(command, "--seed", seed, {0}, "Of all random numbers; 0")->option_text("S");
}

void add_open_options(CLI::App& command, OpenOptions& open) {
  add_parsed_option(command, "--io", open.io, parse_io, "How shards are read; auto: by io_uring where it works")
      ->option_text("auto|uring|pread");
  command.add_flag("--direct", open.direct, "Read shards past the page cache (O_DIRECT)");
  CLI::Option* folder = add_text_option(command, "--index-dir", open.index_folder, "Where to look for indexes first");
  folder->option_text("DIR");
  const auto scan = [&open] { open.use_indexes = false; };
  command.add_flag_callback("--no-index", scan, "Scan every shard, and keep nothing of it")->excludes(folder);
}

void add_json_flag(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print one JSON object instead of text");
}

void set_example(CLI::App& command, const std::string& example) { command.footer("Example: " + example); }

}  // namespace stoker
