#include "stoker/ops/argument_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <variant>

#include "stoker/base/words.h"

namespace stoker {
namespace {

constexpr Word<ArgType> kArgTypes[] = {{ArgType::kNumber, "number"},      {ArgType::kInteger, "integer"},
                                       {ArgType::kText, "text"},          {ArgType::kNumbers, "numbers"},
                                       {ArgType::kIntegers, "integers"},  {ArgType::kFlag, "flag"},
                                       {ArgType::kOperators, "operators"}};

/// The parts of a text between separators; none of an empty one.
std::vector<std::string> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return parts;
}

}  // namespace

std::string_view type_name(ArgType type) { return word_of(kArgTypes, type); }

std::vector<std::string> choices_of(const ArgSpec& arg) { return parts_of(arg.choices, "|"); }

std::vector<std::string> examples_of(const OperatorSpec& spec) {
  if (spec.args.empty()) return {""};
  return parts_of(spec.examples, " | ");
}

std::vector<int> counts_of(const ArgSpec& arg) {
  std::vector<int> counts;
  for (unsigned bits = arg.counts; bits != 0; bits &= bits - 1) counts.push_back(std::countr_zero(bits));
  return counts;
}

std::string default_text(const ArgSpec& arg) {
  const Value value = default_value(arg);
  const auto* list = std::get_if<Numbers>(&value);
  if (!list) return to_string(value);
  return list->size() == 1 ? fmt::format("{:.4g}", list->front()) : fmt::format("[{:.4g}]", fmt::join(*list, ", "));
}

namespace {

// "1 or 2", or "0 to 31" of more than three in a row.
std::string counts_text(const ArgSpec& arg) {
  const std::vector<int> counts = counts_of(arg);
  const bool in_a_row = counts.back() - counts.front() + 1 == static_cast<int>(counts.size());
  if (in_a_row && counts.size() > 3) return fmt::format("{} to {}", counts.front(), counts.back());
  return fmt::format("{}", fmt::join(counts, " or "));
}

}  // namespace

std::string permitted_text(const ArgSpec& arg) {
  const std::string limits = fmt::format("{} to {}", arg.min, arg.max);
  switch (arg.type) {
    case ArgType::kText:
      return arg.choices.empty() ? "any text" : fmt::format("one of {}", fmt::join(choices_of(arg), ", "));
    case ArgType::kNumber: return fmt::format("a number, {}", limits);
    case ArgType::kInteger: return fmt::format("an integer, {}", limits);
    case ArgType::kFlag: return "true or false";
    case ArgType::kOperators: return fmt::format("{} operators", limits);
    case ArgType::kNumbers:
    case ArgType::kIntegers: break;
  }
  return fmt::format("{} {}, {}", counts_text(arg), type_name(arg.type), limits);
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    names.emplace_back(name);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

}  // namespace stoker
