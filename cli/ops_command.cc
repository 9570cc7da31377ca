// `stoker ops`: what a recipe can say, straight from the operator table.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/json_output.h"
#include "cli/text_table.h"
#include "stoker/ops/operator_table.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

bool is_list(const ArgSpec& arg) { return arg.type == ArgType::kNumbers || arg.type == ArgType::kIntegers; }
bool is_numeric(const ArgSpec& arg) { return arg.type != ArgType::kText; }

std::string_view type_name(ArgType type) {
  switch (type) {
    case ArgType::kNumber: return "number";
    case ArgType::kInteger: return "integer";
    case ArgType::kText: return "text";
    case ArgType::kNumbers: return "numbers";
    case ArgType::kIntegers: return "integers";
  }
  return "";
}

// How many numbers a list may have.
std::vector<int> counts_of(const ArgSpec& arg) {
  std::vector<int> counts;
  for (unsigned bits = arg.counts; bits != 0; bits &= bits - 1) counts.push_back(std::countr_zero(bits));
  return counts;
}

std::vector<std::string> choices_of(const ArgSpec& arg) {
  std::vector<std::string> words;
  std::string_view rest = arg.choices;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

// A list of one is written as the number, as recipes may; four digits are enough for people.
std::string default_text(const ArgSpec& arg) {
  const Value value = default_value(arg);
  const auto* list = std::get_if<Numbers>(&value);
  if (!list) return to_string(value);
  return list->size() == 1 ? fmt::format("{:.4g}", list->front()) : fmt::format("[{:.4g}]", fmt::join(*list, ", "));
}

// "size, filter='bilinear'"
std::string arguments(const OperatorSpec& spec) {
  std::vector<std::string> args;
  for (const ArgSpec& arg : spec.args) {
    args.push_back(arg.required ? std::string(arg.name) : fmt::format("{}={}", arg.name, default_text(arg)));
  }
  return fmt::format("{}", fmt::join(args, ", "));
}

// "1 or 2 integers, 0 to 255"
std::string permitted(const ArgSpec& arg) {
  if (arg.type == ArgType::kText) return fmt::format("{}", fmt::join(choices_of(arg), ", "));
  const std::string count = is_list(arg) ? fmt::format("{} ", fmt::join(counts_of(arg), " or ")) : "";
  return fmt::format("{}{}, {} to {}", count, type_name(arg.type), arg.min, arg.max);
}

Json json_of(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json json_of(const ArgSpec& arg) {
  Json json;
  json["name"] = arg.name;
  json["type"] = type_name(arg.type);
  json["doc"] = arg.doc;
  json["required"] = arg.required;
  json["default"] = arg.required ? Json(nullptr) : json_of(default_value(arg));
  json["min"] = is_numeric(arg) ? Json(arg.min) : Json(nullptr);
  json["max"] = is_numeric(arg) ? Json(arg.max) : Json(nullptr);
  json["counts"] = is_list(arg) ? Json(counts_of(arg)) : Json(nullptr);
  json["choices"] = arg.type == ArgType::kText ? Json(choices_of(arg)) : Json(nullptr);
  return json;
}

Json json_of(const OperatorSpec& spec) {
  Json json;
  json["name"] = spec.name;
  json["family"] = family_name(spec);
  json["doc"] = spec.doc;
  json["tolerance"] = spec.tolerance;
  json["args"] = Json::array();
  for (const ArgSpec& arg : spec.args) json["args"].push_back(json_of(arg));
  return json;
}

std::string table_of_all() {
  TextTable table({{"family"}, {"operator"}, {"what it does"}, {"arguments"}});
  std::string_view before;
  for (const OperatorSpec& spec : operator_table()) {
    const std::string_view family = family_name(spec);
    table.add_row(
        {std::string(family == before ? "" : family), std::string(spec.name), std::string(spec.doc), arguments(spec)});
    before = family;
  }
  return table.text() + "\nA view's operators stand in the order of the families. More: stoker ops NAME\n";
}

std::string details_of(const OperatorSpec& spec) {
  std::string text =
      fmt::format("{}({})\n{} ({}; {})\n", spec.name, arguments(spec), spec.doc, family_name(spec),
                  spec.tolerance == 0 ? "bit for bit the same everywhere" : fmt::format("within {}", spec.tolerance));
  if (spec.args.empty()) return text;
  TextTable table({{"argument"}, {"default"}, {"permitted"}, {"what it is"}});
  for (const ArgSpec& arg : spec.args) {
    table.add_row(
        {std::string(arg.name), arg.required ? "required" : default_text(arg), permitted(arg), std::string(arg.doc)});
  }
  return text + "\n" + table.text();
}

void ops(const std::string& name, bool json) {
  const std::span<const OperatorSpec> chosen = name.empty() ? operator_table() : std::span(&find_operator(name), 1);
  if (!json) return write_output(name.empty() ? table_of_all() : details_of(chosen.front()));
  Json list = Json::array();
  for (const OperatorSpec& spec : chosen) list.push_back(json_of(spec));
  write_json({{"operators", list}});
}

}  // namespace

void add_ops_command(Parser& app) {
  Command* command = app.add_subcommand("ops", "List the operators a recipe is made of");
  const auto name = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  command->add_option(
      "NAME", [name](const std::string& text) { *name = text; }, "Tell all about this one");
  add_json_flag(*command, *json);
  set_example(*command, "stoker ops random_resized_crop");
  command->callback([name, json] { ops(*name, *json); });
}

}  // namespace stoker
