#include "cli/command_line.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/exit_status.h"
#include "stoker/base/spelling.h"

namespace stoker {
namespace {

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The command that was named, or the application itself.
const CLI::App& named_command(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : *named.front();
}

// What is wrong with the arguments, in one line with a hint where help is to be found.
std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = named_command(app);
  const std::string help = &command == &app ? "stoker --help" : fmt::format("stoker {} --help", command.get_name());
  std::string sentence = first_line(error.what());
  // A misspelt option may also leave another one missing: the misspelling is what to say.
  const std::vector<std::string> unexpected = app.remaining(true);
  const bool about_words =
      dynamic_cast<const CLI::ExtrasError*>(&error) || dynamic_cast<const CLI::RequiredError*>(&error);
  if (about_words && !unexpected.empty()) {
    const std::string& word = unexpected.front();
    if (&command == &app && !word.starts_with('-')) {
      sentence = fmt::format("there is no command '{}'{}", word, did_you_mean(word, command_names(app)));
    } else {
      const std::string hint = did_you_mean(word.substr(0, word.find('=')), option_names(command));
      sentence = fmt::format("unexpected argument '{}'{}", word, hint);
    }
  }
  return fmt::format("{} (see {})", sentence, help);
}

}  // namespace

int run_command_line(int argc, char** argv, Interrupts& interrupts) {
  CLI::App app("Feeds training: turns data sets of images into batches, the same ones on every machine.", "stoker");
  app.set_version_flag("--version", "stoker " STOKER_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this, or all about a command: stoker run --help");
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(26);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Positionals", "Arguments");
  app.footer(
      "Exit status: 0 done, 1 failure, 2 bad usage, 130 interrupted.\n"
      "STOKER_ISA forces an instruction set (avx3, avx2, sse4, scalar); STOKER_LOG=debug|info|warning|error says "
      "more.");
  add_run_command(app, interrupts);
  add_plan_command(app);
  add_view_command(app);
  add_pack_command(app, interrupts);
  add_index_command(app, interrupts);
  add_verify_command(app, interrupts);
  add_info_command(app, interrupts);
  add_synth_command(app, interrupts);
  add_ops_command(app);
  add_tune_sim_command(app);
  for (CLI::App* command : app.get_subcommands({})) command->group("Commands");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    write_output(fmt::format("{}\n", version.what()));
    return kExitDone;
  } catch (const CLI::CallForHelp&) {
    write_output(app.help());
    return kExitDone;
  } catch (const CLI::ParseError& error) {
    write_error_line(usage_sentence(app, error));
    return kExitUsage;
  }
  if (app.get_subcommands().empty()) {
    write_error_line(fmt::format("name a command: {} (see stoker --help)", fmt::join(command_names(app), ", ")));
    return kExitUsage;
  }
  return kExitDone;
}

}  // namespace stoker
