// `stoker ops`: lists the operators of recipes from the operator table.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/json_output.h"
#include "cli/text_table.h"
#include "stoker/ops/argument_text.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

bool is_list(const ArgSpec& arg) { return arg.type == ArgType::kNumbers || arg.type == ArgType::kIntegers; }
bool is_numeric(const ArgSpec& arg) {
  return arg.type != ArgType::kText && arg.type != ArgType::kFlag && arg.type != ArgType::kOperators;
}

// "size, filter='bilinear'"
std::string arguments(const OperatorSpec& spec) {
  std::vector<std::string> args;
  for (const ArgSpec& arg : spec.args) {
    args.push_back(arg.required ? std::string(arg.name) : fmt::format("{}={}", arg.name, default_text(arg)));
  }
  return fmt::format("{}", fmt::join(args, ", "));
}

Json json_of(const Value& value) {
  // No operator is by default one that holds others.
  struct Converter {
    Json operator()(const OperatorCalls&) const { return nullptr; }
    Json operator()(const Numbers& numbers) const { return static_cast<const std::vector<double>&>(numbers); }
    Json operator()(bool flag) const { return flag; }
    Json operator()(double number) const { return number; }
    Json operator()(const std::string& text) const { return text; }
  };
  return std::visit(Converter(), value);
}

Json json_of(const ArgSpec& arg) {
  Json json;
  json["name"] = arg.name;
  json["type"] = type_name(arg.type);
  json["doc"] = arg.doc;
  json["required"] = arg.required;
  json["default"] = arg.required ? Json(nullptr) : json_of(default_value(arg));
  json["default_text"] = arg.required ? Json(nullptr) : Json(default_text(arg));
  json["min"] = is_numeric(arg) ? Json(arg.min) : Json(nullptr);
  json["max"] = is_numeric(arg) ? Json(arg.max) : Json(nullptr);
  json["counts"] = is_list(arg) ? Json(counts_of(arg)) : Json(nullptr);
  json["choices"] = arg.type == ArgType::kText ? Json(choices_of(arg)) : Json(nullptr);
  json["permitted"] = permitted_text(arg);
  return json;
}

Json json_of(const OperatorSpec& spec) {
  Json json;
  json["name"] = spec.name;
  json["family"] = family_name(spec);
  json["doc"] = spec.doc;
  json["tolerance"] = spec.tolerance;
  json["examples"] = examples_of(spec);
  json["drawn"] = is_drawn(spec);
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
  return table.text() +
         "\nA view's operators must come in the order of these families; a combination is of the family of its "
         "operators, and\nthose of the family batch belong to no view.\nDetails: stoker ops NAME\n";
}

std::string details_of(const OperatorSpec& spec) {
  std::string text =
      fmt::format("{}({})\n{} ({}; {})\n", spec.name, arguments(spec), spec.doc, family_name(spec),
                  spec.tolerance == 0 ? "the same bits everywhere" : fmt::format("within {}", spec.tolerance));
  if (spec.args.empty()) return text;
  TextTable table({{"argument"}, {"default"}, {"permitted"}, {"what it is"}});
  for (const ArgSpec& arg : spec.args) {
    table.add_row({std::string(arg.name), arg.required ? "required" : default_text(arg), permitted_text(arg),
                   std::string(arg.doc)});
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
  Command* command = app.add_subcommand("ops", "List the operators of recipes");
  const auto name = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  command->add_option(
      "NAME", [name](const std::string& text) { *name = text; }, "Describe this operator and its arguments");
  add_json_flag(*command, *json);
  set_example(*command, "stoker ops random_resized_crop");
  command->callback([name, json] { ops(*name, *json); });
}

}  // namespace stoker
