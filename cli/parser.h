// The arguments of the command line: commands declare them, and the parser reads them. A facade over CLI11, whose
// templates take seconds to compile in each file that includes them: only parser.cc does.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stoker {

/// Bad usage, thrown by code that reads an option's text: "NAME: WHY".
[[noreturn]] void refuse(const std::string& name, const std::string& why);

/// An option, or an argument without a name, of a command.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option* required();
  /// The placeholder of its value in the help: `FILE`.
  Option* option_text(const std::string& text);
  /// Not both.
  Option* excludes(Option* other);
  /// Not without the other.
  Option* needs(Option* other);

 private:
  CLI::Option* option_;
};

/// One command: `stoker run`. Options begin with dashes, arguments do not. The variables that they fill must outlive
/// the parsing; options live as long as the parser.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// `read` is called with the given text; it may refuse() the text, or throw Error.
  Option* add_option(const std::string& name, std::function<void(const std::string&)> read, const std::string& doc);
  /// An argument that may come several times.
  Option* add_texts(const std::string& name, std::vector<std::string>& values, const std::string& doc);
  /// An option that may come several times, with one value each.
  Option* add_repeated(const std::string& name, std::vector<std::string>& values, const std::string& doc);
  Option* add_flag(const std::string& name, bool& value, const std::string& doc);
  Option* add_flag_callback(const std::string& name, std::function<void()> given, const std::string& doc);

  /// Flags, and options with one value, that are added from now on put what they are given into `words`, as a command
  /// line has it: {"--io", "pread"}. Null ends that.
  void record_words(std::vector<std::string>* words) { words_ = words; }

  /// The options that were given, by their names: "--json". For its action.
  std::vector<std::string> given() const;

  /// The last line of the command's help.
  void footer(const std::string& text);
  /// The action of the command, which runs at the end of parsing.
  void callback(std::function<void()> run);

 private:
  Option* own(CLI::Option* option) { return &options_.emplace_back(*option); }

  CLI::App* app_;
  std::vector<std::string>* words_ = nullptr;
  std::deque<Option> options_;  // a deque, since addresses must stay
};

/// The application and its commands.
class Parser {
 public:
  /// `version` makes what --version prints.
  Parser(const std::string& name, const std::string& doc, const std::function<std::string()>& version);
  ~Parser();

  Command* add_subcommand(const std::string& name, const std::string& doc);
  void footer(const std::string& text);

  /// Reads the arguments and runs the command that they name, or prints help. Returns the exit status; rethrows the
  /// command's exceptions.
  int parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::deque<Command> commands_;
};

}  // namespace stoker
