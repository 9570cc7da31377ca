// Checking a recipe's calls against the operator table.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"
#include "stoker/ops/argument_text.h"

namespace stoker {
namespace {

OperatorCall check_call_within(const OperatorCall& call, int depth);

// Checks one value and brings it to the declared type; fails with what is wrong about "operator: argument".
class ArgChecker {
 public:
  ArgChecker(std::string_view op, const ArgSpec& arg, int depth) : op_(op), arg_(arg), depth_(depth) {}

  Value check(const Value& value) const {
    switch (arg_.type) {
      case ArgType::kText:
        if (const auto* text = std::get_if<std::string>(&value)) return check_text(*text);
        refuse(value, "a text");
      case ArgType::kNumber:
      case ArgType::kInteger:
        if (const auto* number = std::get_if<double>(&value)) return check_number(*number);
        refuse(value, arg_.type == ArgType::kInteger ? "a whole number" : "a number");
      case ArgType::kNumbers:
      case ArgType::kIntegers:
        if (const auto* number = std::get_if<double>(&value)) return check_list({*number});
        if (const auto* list = std::get_if<Numbers>(&value)) return check_list(*list);
        refuse(value, "a number or a list of numbers");
      case ArgType::kFlag:
        if (const auto* flag = std::get_if<bool>(&value)) return *flag;
        refuse(value, "true or false");
      case ArgType::kOperators:
        if (const auto* calls = std::get_if<OperatorCalls>(&value)) return check_operators(*calls);
        refuse(value, "a list of operators");
    }
    refuse(value, "something else");
  }

 private:
  [[noreturn]] void refuse(const Value& value, std::string_view wanted) const {
    fail(ErrorKind::kUsage, "{}: {} is {}, but must be {}", op_, arg_.name, to_string(value), wanted);
  }

  std::string check_text(const std::string& text) const {
    const std::vector<std::string> choices = choices_of(arg_);
    if (choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
    refuse(Value(text), fmt::format("one of {}{}", fmt::join(choices, ", "), did_you_mean(text, choices)));
  }

  double check_number(double number) const {
    const bool whole = arg_.type == ArgType::kInteger || arg_.type == ArgType::kIntegers;
    if (whole && number != std::floor(number)) refuse(Value(number), "a whole number");
    if (!(number >= arg_.min && number <= arg_.max)) {
      refuse(Value(number), fmt::format("between {} and {}", arg_.min, arg_.max));
    }
    return number;
  }

  std::vector<double> check_list(std::vector<double> list) const {
    if (list.size() >= 32 || !(arg_.counts >> list.size() & 1)) {
      refuse(Value(list), fmt::format("a list of {} numbers", fmt::join(counts_of(arg_), " or ")));
    }
    for (const double number : list) check_number(number);
    return list;
  }

  OperatorCalls check_operators(const OperatorCalls& calls) const {
    if (const auto count = static_cast<double>(calls.size()); count < arg_.min || count > arg_.max) {
      fail(ErrorKind::kUsage, "{}: {} has {} operators, but must have {} to {}", op_, arg_.name, count, arg_.min,
           arg_.max);
    }
    OperatorCalls checked;
    for (const OperatorCall& call : calls) {
      try {
        checked.push_back(check_call_within(call, depth_ + 1));
      } catch (const Error& error) {
        throw error.with_context(op_);
      }
      check_family(checked.front(), checked.back());
    }
    return checked;
  }

  void check_family(const OperatorCall& first, const OperatorCall& other) const {
    const OperatorSpec& spec = member_spec(other);
    if (!std::holds_alternative<GeometryFunction>(spec.function) &&
        !std::holds_alternative<PictureFunction>(spec.function)) {
      fail(ErrorKind::kUsage,
           "{}: {} ({}) cannot be one of its operators; operators of the families geometry and picture can", op_,
           spec.name, family_name(spec));
    }
    if (const OperatorSpec& leader = member_spec(first); leader.function.index() != spec.function.index()) {
      fail(ErrorKind::kUsage, "{}: its operators must be of one family, but {} is of {} and {} of {}", op_, leader.name,
           family_name(leader), spec.name, family_name(spec));
    }
  }

  std::string_view op_;
  const ArgSpec& arg_;
  int depth_;  // of combinations around this one
};

template <typename Spec>
std::vector<std::string> names_of(std::span<const Spec> specs) {
  std::vector<std::string> names;
  for (const Spec& spec : specs) names.emplace_back(spec.name);
  return names;
}

void check_names(const OperatorCall& call, const OperatorSpec& spec) {
  const std::vector<std::string> known = names_of(spec.args);
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const std::string& name = call.args[i].first;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      fail(ErrorKind::kUsage, "{} has no argument '{}'{}; it has {}", call.name, name, did_you_mean(name, known),
           fmt::join(known, ", "));
    }
    if (std::any_of(call.args.begin(), call.args.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const auto& a) { return a.first == name; })) {
      fail(ErrorKind::kUsage, "{}: {} is given twice", call.name, name);
    }
  }
}

OperatorCall check_call_within(const OperatorCall& call, int depth) {
  const OperatorSpec& spec = find_operator(call.name);
  if (depth > kCombinationDepthMax) {
    fail(ErrorKind::kLimit, "operators stand within more than {} others", kCombinationDepthMax);
  }
  check_names(call, spec);
  OperatorCall checked{call.name, {}};
  for (const ArgSpec& arg : spec.args) {
    const auto given =
        std::find_if(call.args.begin(), call.args.end(), [&](const auto& a) { return a.first == arg.name; });
    if (given == call.args.end() && arg.required)
      fail(ErrorKind::kUsage, "{} needs {}: {}", call.name, arg.name, arg.doc);
    checked.args.emplace_back(arg.name, given == call.args.end()
                                            ? default_value(arg)
                                            : ArgChecker(call.name, arg, depth).check(given->second));
  }
  if (const auto* combine = std::get_if<CombinationFunction>(&spec.function)) (*combine)(checked);
  return checked;
}

// As brief() shows a call.
std::string brief_value(const Value& value) {
  const auto* calls = std::get_if<OperatorCalls>(&value);
  if (!calls) return to_string(value);
  std::vector<std::string> texts;
  for (const OperatorCall& call : *calls) texts.push_back(brief(call));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace

std::string_view family_name(const OperatorSpec& spec) {
  constexpr std::string_view kNames[] = {"decode", "geometry", "picture",     "color", "erase",  "format",
                                         "mask",   "boxes",    "text",        "rows",  "tokens", "array",
                                         "number", "label",    "combination", "views", "batch"};
  return kNames[spec.function.index()];
}

Stage stage_of(const OperatorSpec& spec) {
  constexpr Stage kStageOf[] = {Stage::kDecode, Stage::kGeometry, Stage::kColor,
                                Stage::kColor,  Stage::kColor,    Stage::kColor};
  assert(spec.function.index() < std::size(kStageOf));
  return kStageOf[spec.function.index()];
}

bool is_of_batch(const OperatorSpec& spec) { return std::holds_alternative<BatchFunction>(spec.function); }

bool is_drawn(const OperatorSpec& spec) {
  return std::holds_alternative<GeometryFunction>(spec.function) ||
         std::holds_alternative<PictureFunction>(spec.function) ||
         std::holds_alternative<EraseFunction>(spec.function) ||
         std::holds_alternative<CombinationFunction>(spec.function) ||
         std::holds_alternative<ViewsFunction>(spec.function) || is_of_batch(spec);
}

const OperatorSpec& find_operator(std::string_view name) {
  for (const OperatorSpec& spec : operator_table()) {
    if (spec.name == name) return spec;
  }
  const std::vector<std::string> names = names_of(operator_table());
  fail(ErrorKind::kUsage, "there is no operator '{}'{}; `stoker ops` lists all", name, did_you_mean(name, names));
}

Value default_value(const ArgSpec& arg) {
  switch (arg.type) {
    case ArgType::kText: return std::string(arg.text);
    case ArgType::kNumber:
    case ArgType::kInteger: return arg.numbers[0];
    case ArgType::kFlag: return arg.numbers[0] != 0;
    case ArgType::kOperators: return OperatorCalls();
    case ArgType::kNumbers:
    case ArgType::kIntegers: break;
  }
  return std::vector<double>(arg.numbers.begin(), arg.numbers.begin() + arg.count);
}

const OperatorSpec& member_spec(const OperatorCall& checked) {
  const OperatorCall* call = &checked;
  for (;;) {
    const OperatorSpec& spec = find_operator(call->name);
    if (!std::holds_alternative<CombinationFunction>(spec.function)) return spec;
    call = &call->operators(kCombinedOperators).front();
  }
}

OperatorCall check_call(const OperatorCall& call) { return check_call_within(call, 0); }

std::string brief(const OperatorCall& checked) {
  const OperatorSpec& spec = find_operator(checked.name);
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < spec.args.size(); ++i) {
    const ArgSpec& arg = spec.args[i];
    const Value& value = checked.args[i].second;
    if (arg.required || value != default_value(arg))
      shown.push_back(fmt::format("{}={}", arg.name, brief_value(value)));
  }
  return shown.empty() ? checked.name : fmt::format("{}({})", checked.name, fmt::join(shown, ", "));
}

}  // namespace stoker
