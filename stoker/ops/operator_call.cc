#include "stoker/ops/operator_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace stoker {

const Value& OperatorCall::value(std::string_view arg) const {
  const auto found = std::find_if(args.begin(), args.end(), [&](const auto& entry) { return entry.first == arg; });
  assert(found != args.end());
  return found->second;
}

std::string to_string(const Value& value) {
  struct Printer {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return fmt::format("'{}'", text); }
    std::string operator()(const std::vector<double>& numbers) const {
      return fmt::format("[{}]", fmt::join(numbers, ", "));
    }
    std::string operator()(const OperatorCalls& calls) const {
      std::vector<std::string> texts;
      for (const OperatorCall& call : calls) texts.push_back(to_string(call));
      return fmt::format("[{}]", fmt::join(texts, ", "));
    }
  };
  return std::visit(Printer{}, value);
}

std::string to_string(const OperatorCall& call) {
  std::string text = call.name + "(";
  for (const auto& [name, value] : call.args) {
    if (text.back() != '(') text += ", ";
    text += fmt::format("{}={}", name, to_string(value));
  }
  return text + ")";
}

}  // namespace stoker
