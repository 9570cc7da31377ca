#include "python/bindings/loader_options.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "python/bindings/arguments.h"
#include "stoker/base/error.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

constexpr std::size_t kHelpWidth = 120, kHelpIndent = 4;

std::string type_text(const LoaderOptionSpec& option) {
  // By kind.
  constexpr std::string_view kTypes[] = {"int", "int | str", "str",           "bool",
                                         "str", "_Path",     "str | _Device", "int | str"};
  const std::string_view type = kTypes[static_cast<std::size_t>(option.form.kind)];
  return fmt::format("{}{}", type, option.initial.empty() ? " | None" : option.initial == "auto" ? " | str" : "");
}

std::string default_text(const LoaderOptionSpec& option) {
  if (option.initial.empty()) return "None";
  const OptionKind kind = option.form.kind;
  const bool is_text = kind != OptionKind::kFlag && (kind != OptionKind::kInteger || option.initial == "auto");
  return is_text ? fmt::format("'{}'", option.initial) : std::string(option.initial);
}

void add_wrapped(std::string& help, std::string_view text) {
  std::size_t width = kHelpWidth;
  while (text.size() > width) {
    const std::size_t end = text.rfind(' ', width);
    help += fmt::format("{}\n{:{}}", text.substr(0, end), "", kHelpIndent);
    text.remove_prefix(end + 1);
    width = kHelpWidth - kHelpIndent;
  }
  help += fmt::format("{}\n", text);
}

// "one of on, once, off", of "--tune on|once|off".
std::string wanted_text(const LoaderOptionSpec& option) {
  const std::string_view written = option.command_line;
  if (written.find('|') == std::string_view::npos) return "a text";
  std::string wanted = "one of ";
  for (const char c : written.substr(written.find(' ') + 1)) wanted += c == '|' ? std::string(", ") : std::string(1, c);
  return wanted;
}

OptionValue value_of(const LoaderOptionSpec& option, nb::handle value) {
  const std::string_view name = option.name;
  switch (option.form.kind) {
    case OptionKind::kInteger: return integer_of(option, value);
    case OptionKind::kSize: return size_argument(name, value);
    case OptionKind::kFlag: return flag_argument(name, value);
    case OptionKind::kPath: return path_argument(name, value);
    case OptionKind::kDevice: return device_argument(name, value);
    case OptionKind::kAddress:
      if (nb::isinstance<nb::str>(value)) break;
      return std::to_string(integer_argument(name, value, 0, std::numeric_limits<std::uint16_t>::max()));
    default: break;
  }
  return text_argument(name, value, wanted_text(option));
}

// What stands for an option that is not given.
bool is_unset(const LoaderOptionSpec& option, nb::handle value) {
  if (option.initial.empty()) return value.is_none();
  if (option.initial != "auto" || !nb::isinstance<nb::str>(value)) return false;
  const std::string text = text_argument(option.name, value);
  if (text != "auto") fail(ErrorKind::kUsage, "{} is '{}', but must be a whole number or 'auto'", option.name, text);
  return true;
}

}  // namespace

std::uint64_t integer_of(const LoaderOptionSpec& option, nb::handle value) {
  const OptionForm& form = option.form;
  if (form.most == std::numeric_limits<std::uint64_t>::max()) return unsigned_argument(option.name, value);
  return static_cast<std::uint64_t>(integer_argument(option.name, value, static_cast<std::int64_t>(form.least),
                                                     static_cast<std::int64_t>(form.most)));
}

CallSignature loader_signature() {
  CallSignature signature{"Loader", {"data", "recipe"}, 2, {"channels_last"}};
  for (const LoaderOptionSpec& option : loader_option_table()) signature.names.emplace_back(option.name);
  return signature;
}

std::string constructor_text() {
  std::string text = "def __init__(self, data: Dataset | _Path | Sequence[_Path], recipe: Recipe | _Path, *";
  for (const LoaderOptionSpec& option : loader_option_table()) {
    text += fmt::format(", {}: {} = {}", option.name, type_text(option), default_text(option));
  }
  return text + ") -> None";
}

std::string options_help() {
  std::string help = "data: a Dataset, or what stoker.open() takes\nrecipe: a Recipe, or what stoker.recipe() takes\n";
  for (const LoaderOptionSpec& option : loader_option_table()) {
    add_wrapped(help, fmt::format("{}: {}", option.name, help_of(option)));
  }
  return help;
}

LoaderOptions loader_options(const CallArguments& given) {
  LoaderOptions options;
  for (const LoaderOptionSpec& option : loader_option_table()) {
    const nb::handle value = given[option.name];
    if (!value || is_unset(option, value)) continue;
    const OptionValue parsed = value_of(option, value);
    try {
      option.set(options, parsed);
    } catch (const Error& error) {
      throw error.with_context(option.name);
    }
  }
  return options;
}

}  // namespace stoker::python
