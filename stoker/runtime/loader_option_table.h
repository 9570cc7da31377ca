// The table of a loader's options: a row for each that users may give. `stoker run`, Python's Loader with its stub and
// hints, the help of both and docs/options.md are made from it. Threads: any; it never changes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "stoker/runtime/loader_options.h"

namespace stoker {

enum class OptionKind : std::uint8_t {
  kInteger,
  kSize,  // bytes, or a text such as 512MiB
  kWord,  // one of some
  kFlag,
  kText,
  kPath,
  kDevice,   // a device's name
  kAddress,  // a port, or IP:PORT
};

/// What may be given.
struct OptionForm {
  constexpr OptionForm(OptionKind of, std::uint64_t from = 0, std::uint64_t to = 0) : kind(of), least(from), most(to) {}

  OptionKind kind;
  std::uint64_t least, most;  // of an integer
};

/// A value: of a flag; of an integer or a size; of all others.
using OptionValue = std::variant<bool, std::uint64_t, std::string>;

struct LoaderOptionSpec {
  std::string_view name;          // in Python
  std::string_view command_line;  // "--batch N"; of words: all of them, "--tune on|once|off"; empty: not there
  OptionForm form;
  std::string_view initial;                         // the value where none is given; empty or "auto": unset
  void (*set)(LoaderOptions&, const OptionValue&);  // throws kUsage for a text without meaning
  std::string doc;                                  // a phrase, without the default
  std::string unset{};                              // what the loader does where the option is unset
};

std::span<const LoaderOptionSpec> loader_option_table();

/// The row of that name, which there must be.
const LoaderOptionSpec& loader_option(std::string_view name);

/// The doc and the default: "reads under way at once, at most; by default ...".
std::string help_of(const LoaderOptionSpec& option);

}  // namespace stoker
