#include "cli/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/console.h"
#include "cli/exit_status.h"
#include "stoker/base/spelling.h"

namespace stoker {
namespace {

// CLI11 takes an argument '[x]' for a list of one 'x'. Here it stands for itself, and a mark after its last bracket
// says so: a byte that no argument of a process can have.
constexpr char kMark = '\0';

std::string marked(std::string_view word) {
  std::string text(word);
  if (text.ends_with(']')) text += kMark;
  return text;
}

std::string unmarked(std::string text) {
  std::erase(text, kMark);
  return text;
}

// Reads an argument or option that may come several times.
auto read_into(std::vector<std::string>& values) {
  return [&values](const std::vector<std::string>& texts) {
    values.clear();
    for (const std::string& text : texts) values.push_back(unmarked(text));
  };
}

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

// Of an option that was given too often, without a value or with one too many. CLI11 says "--batch: At Most 1 required
// but received 2", "--batch: 1 required TEXT missing" and "json was given a disallowed flag override".
std::string mismatch_sentence(const std::string& said) {
  const std::string name = said.substr(0, said.find_first_of(": "));
  if (said.ends_with(" missing")) return name + " needs a value";
  if (said.ends_with(" disallowed flag override")) return "--" + name + " takes no value";
  if (said.find(": At Most 1 ") == std::string::npos) return said;
  const std::string times = said.substr(said.rfind(' ') + 1);
  return fmt::format("{} is given {}; give it once", name, times == "2" ? "twice" : times + " times");
}

// The mistake in the arguments, in one line with a hint on where to find help.
std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = named_command(app);
  const std::string help =
      fmt::format("{}{} --help", app.get_name(), &command == &app ? std::string() : " " + command.get_name());
  std::string sentence = first_line(error.what());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) sentence = mismatch_sentence(sentence);
  // A misspelt option may also leave a required one missing: report the misspelling.
  const std::vector<std::string> unexpected = app.remaining(true);
  const bool about_words =
      dynamic_cast<const CLI::ExtrasError*>(&error) || dynamic_cast<const CLI::RequiredError*>(&error);
  if (about_words && !unexpected.empty()) {
    const std::string& word = unexpected.front();
    if (&command == &app && !word.starts_with('-')) {
      sentence = fmt::format("there is no command '{}'{}", word, did_you_mean(word, command_names(app)));
    } else {
      const std::string option = word.substr(0, word.find('='));
      const std::vector<std::string> known = option_names(command);
      const bool is_early = std::find(known.begin(), known.end(), option) != known.end();
      sentence = is_early ? fmt::format("'{}' comes after '{}'", word, command.get_name())
                          : fmt::format("unexpected argument '{}'{}", word, did_you_mean(option, known));
    }
  }
  return fmt::format("{} (see {})", unmarked(std::move(sentence)), help);
}

}  // namespace

void refuse(const std::string& name, const std::string& why) { throw CLI::ValidationError(name, why); }

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::option_text(const std::string& text) {
  option_->option_text(text);
  return this;
}

Option* Option::excludes(Option* other) {
  option_->excludes(other->option_);
  return this;
}

Option* Option::needs(Option* other) {
  option_->needs(other->option_);
  return this;
}

Option* Command::add_option(const std::string& name, std::function<void(const std::string&)> read,
                            const std::string& doc) {
  const auto record_and_read = [words = words_, name, read = std::move(read)](const std::string& given) {
    const std::string text = unmarked(given);
    if (words) words->insert(words->end(), {name, text});
    read(text);
  };
  return own(app_->add_option_function<std::string>(name, record_and_read, doc));
}

Option* Command::add_texts(const std::string& name, std::vector<std::string>& values, const std::string& doc) {
  return own(app_->add_option_function<std::vector<std::string>>(name, read_into(values), doc));
}

Option* Command::add_repeated(const std::string& name, std::vector<std::string>& values, const std::string& doc) {
  return own(
      app_->add_option_function<std::vector<std::string>>(name, read_into(values), doc)->allow_extra_args(false));
}

Option* Command::add_flag(const std::string& name, bool& value, const std::string& doc) {
  return add_flag_callback(
      name, [&value] { value = true; }, doc);
}

Option* Command::add_flag_callback(const std::string& name, std::function<void()> given, const std::string& doc) {
  const auto record_and_tell = [words = words_, name, given = std::move(given)] {
    if (words) words->push_back(name);
    given();
  };
  return own(app_->add_flag_callback(name, record_and_tell, doc)->disable_flag_override());
}

std::vector<std::string> Command::given() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() > 0 && !option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
  }
  return names;
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(std::function<void()> run) { app_->callback(std::move(run)); }

Parser::Parser(const std::string& name, const std::string& doc, const std::function<std::string()>& version)
    : app_(std::make_unique<CLI::App>(doc, name)) {
  app_->set_version_flag("--version", version, "Print the version and the build");
  app_->set_help_flag("-h,--help", fmt::format("Print this help, or the help of a command: {} run --help", name));
  app_->require_subcommand(0, 1);
  app_->get_formatter()->column_width(26);
  app_->get_formatter()->label("SUBCOMMAND", "COMMAND");
  app_->get_formatter()->label("Positionals", "Arguments");
}

Parser::~Parser() = default;

Command* Parser::add_subcommand(const std::string& name, const std::string& doc) {
  return &commands_.emplace_back(*app_->add_subcommand(name, doc)->group("Commands"));
}

void Parser::footer(const std::string& text) { app_->footer(text); }

int Parser::parse(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = argc - 1; i > 0; --i) words.push_back(marked(argv[i]));  // CLI11 takes them from the last to the first
  try {
    app_->parse(std::move(words));
  } catch (const CLI::CallForVersion& version) {
    write_output(fmt::format("{}\n", version.what()));
    return kExitDone;
  } catch (const CLI::CallForHelp&) {
    write_output(app_->help());
    return kExitDone;
  } catch (const CLI::ParseError& error) {
    write_error_line(usage_sentence(*app_, error));
    return kExitUsage;
  }
  if (app_->get_subcommands().empty()) {
    write_error_line(
        fmt::format("name a command: {} (see {} --help)", fmt::join(command_names(*app_), ", "), app_->get_name()));
    return kExitUsage;
  }
  return kExitDone;
}

}  // namespace stoker
