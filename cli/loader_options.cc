#include "cli/loader_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <functional>
#include <iterator>

#include "cli/common_options.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/runtime/loader_option_table.h"

namespace stoker {
namespace {

OptionValue value_of(const LoaderOptionSpec& option, const std::string& flag, const std::string& text) {
  const OptionForm& form = option.form;
  if (form.kind == OptionKind::kInteger) return parse_integer<std::uint64_t>(flag, text, {form.least, form.most});
  if (form.kind == OptionKind::kSize) return parse_size(text);
  if (form.kind == OptionKind::kPath && text.empty()) refuse(flag, "its value is empty");
  return text;
}

std::string sentence_of(const LoaderOptionSpec& option, const std::string& doc) {
  std::string help = doc.empty() ? help_of(option) : doc;
  if (option.initial == "True") help = "Turn off: " + help;
  help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
  return help;
}

// Of what happens in a run: there is none.
constexpr std::string_view kOfRuns[] = {"audit", "metrics_address", "dashboard_address", "trace"};

}  // namespace

std::string option_help(std::string_view name) { return sentence_of(loader_option(name), {}); }

Option* add_loader_option(Command& command, LoaderOptions& loader, std::string_view name, const std::string& doc) {
  const LoaderOptionSpec& option = loader_option(name);
  const std::size_t space = option.command_line.find(' ');
  const std::string flag(option.command_line.substr(0, space));
  const std::string help = sentence_of(option, doc);
  if (option.form.kind == OptionKind::kFlag) {
    const auto turn = [&loader, &option] { option.set(loader, option.initial != "True"); };
    return command.add_flag_callback(flag, turn, help);
  }
  const auto read = [&loader, &option, flag](const std::string& text) {
    if (option.initial == "auto" && text == "auto") return;
    try {
      option.set(loader, value_of(option, flag, text));
    } catch (const Error& error) {
      throw error.with_context(flag);
    }
  };
  return command.add_option(flag, read, help)->option_text(std::string(option.command_line.substr(space + 1)));
}

Option* add_batch_option(Command& command, LoaderOptions& loader) {
  return add_loader_option(command, loader, "batch",
                           fmt::format("{}; by default {}, or the multiple of batch_repeats below it",
                                       loader_option("batch").doc, kDefaultBatch));
}

void set_default_batch(LoaderOptions& loader, const Recipe& recipe, int batch) {
  if (loader.batch != 0 || loader.global_batch != 0) return;
  const std::int64_t copies = loader.batch_repeats.value_or(recipe.batch_repeats());
  loader.batch = copies > batch ? batch : static_cast<int>(batch / copies * copies);
}

void add_loader_options(Command& command, LoaderOptions& loader) {
  Option* batch = add_batch_option(command, loader);
  for (const LoaderOptionSpec& option : loader_option_table()) {
    if (option.name == "batch" || option.command_line.empty()) continue;
    Option* added = add_loader_option(command, loader, option.name);
    if (option.name == "global_batch") added->excludes(batch);
  }
}

void add_planned_loader_options(Command& command, LoaderOptions& loader, std::vector<std::string>& given) {
  Option* const batch = add_batch_option(command, loader);
  add_loader_option(command, loader, "global_batch")->excludes(batch);
  command.record_words(&given);
  for (const LoaderOptionSpec& option : loader_option_table()) {
    const bool other = option.name == "batch" || option.name == "global_batch" || option.name == "device";
    const bool of_runs = std::find(std::begin(kOfRuns), std::end(kOfRuns), option.name) != std::end(kOfRuns);
    if (other || of_runs || option.command_line.empty()) continue;
    const bool list = option.name == "quarantine";
    add_loader_option(command, loader, option.name, list ? "treat the samples on this list as bad, as a run does" : "");
  }
  command.record_words(nullptr);
}

}  // namespace stoker
