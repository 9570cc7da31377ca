#include "python/bindings/operator_calls.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>
#include <vector>

#include "python/bindings/arguments.h"
#include "python/bindings/module.h"
#include "python/bindings/operator_examples.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/ops/argument_text.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

const ArgSpec* find_argument(const OperatorSpec& spec, std::string_view name) {
  const auto found = std::find_if(spec.args.begin(), spec.args.end(), [&](const ArgSpec& a) { return a.name == name; });
  return found == spec.args.end() ? nullptr : &*found;
}

std::string wanted(const ArgSpec& arg) {
  switch (arg.type) {
    case ArgType::kText: return arg.choices.empty() ? "a text" : permitted_text(arg);
    case ArgType::kNumber: return "a number";
    case ArgType::kInteger: return "a whole number";
    case ArgType::kNumbers: return "a number or a list of numbers";
    case ArgType::kFlag: return "True or False";
    case ArgType::kOperators: return "a list of operators, such as [stoker.op.flip()]";
    case ArgType::kIntegers: break;
  }
  return "a whole number or a list of whole numbers";
}

bool may_be_list(nb::handle value) {
  return nb::isinstance<nb::iterable>(value) && !PyBytes_Check(value.ptr()) && !PyDict_Check(value.ptr()) &&
         !PyAnySet_Check(value.ptr());
}

OperatorCalls calls_argument(const OperatorSpec& spec, const ArgSpec& arg, nb::handle value) {
  OperatorCalls calls;
  bool all = may_be_list(value);
  if (all) {
    for (const nb::handle element : value) {
      all = all && nb::isinstance<OperatorCall>(element);
      if (all) calls.push_back(nb::cast<const OperatorCall&>(element));
    }
  }
  if (all) return calls;
  fail(ErrorKind::kUsage, "{}: {} is {}, but must be {}", spec.name, arg.name, describe(value), wanted(arg));
}

Value value_argument(const OperatorSpec& spec, std::string_view name, nb::handle value) {
  const ArgSpec* arg = find_argument(spec, name);
  if (!arg) return false;  // the table's check complains of the name, whatever the value
  if (arg->type == ArgType::kOperators) return calls_argument(spec, *arg, value);
  if (PyBool_Check(value.ptr())) return value.is(nb::handle(Py_True));
  if (nb::isinstance<nb::str>(value)) return text_argument(fmt::format("{}: {}", spec.name, name), value);
  double number = 0;
  if (nb::try_cast(value, number)) return number;
  std::vector<double> numbers;
  bool all = may_be_list(value);
  if (all) {
    for (const nb::handle element : value) {
      all = all && !PyBool_Check(element.ptr()) && nb::try_cast(element, number);
      numbers.push_back(number);
    }
  }
  if (all) return numbers;
  fail(ErrorKind::kUsage, "{}: {} is {}, but must be {}", spec.name, name, describe(value), wanted(*arg));
}

std::string python_type(const ArgSpec& arg) {
  const bool whole = arg.type == ArgType::kInteger || arg.type == ArgType::kIntegers;
  switch (arg.type) {
    case ArgType::kText: return "str";
    case ArgType::kNumber:
    case ArgType::kInteger: return whole ? "int" : "float";
    case ArgType::kFlag: return "bool";
    case ArgType::kOperators: return "Sequence[OperatorCall]";
    case ArgType::kNumbers:
    case ArgType::kIntegers: break;
  }
  const std::string list = whole ? "Sequence[int]" : "Sequence[float]";
  return arg.counts & 1u << 1 ? fmt::format("{} | {}", whole ? "int" : "float", list) : list;
}

std::vector<std::string> parameters(const OperatorSpec& spec) {
  std::vector<std::string> texts;
  for (const ArgSpec& arg : spec.args) {
    texts.push_back(fmt::format("{}: {}", arg.name, python_type(arg)));
    if (arg.required) continue;
    const Value value = default_value(arg);
    const auto* flag = std::get_if<bool>(&value);
    texts.back() += fmt::format(" = {}", flag ? (*flag ? "True" : "False") : to_string(value));
  }
  return texts;
}

std::string signature_of_function(const OperatorSpec& spec) {
  return fmt::format("def {}({}) -> OperatorCall", spec.name, fmt::join(parameters(spec), ", "));
}

nb::dict arguments_of(const OperatorCall& call) {
  nb::dict args;
  for (const auto& [name, value] : call.args) args[nb::str(name.c_str())] = to_python(value);
  return args;
}

// The call as Python code.
std::string repr_call(const OperatorCall& call) {
  std::vector<std::string> args;
  for (const auto& [name, value] : arguments_of(call)) {
    args.push_back(fmt::format("{}={}", nb::cast<std::string>(name), nb::cast<std::string>(nb::repr(value))));
  }
  return fmt::format("stoker.op.{}({})", call.name, fmt::join(args, ", "));
}

std::string documentation(const OperatorSpec& spec, const std::string& example) {
  std::string text = fmt::format("{}: {}.\n\n", family_name(spec), spec.doc);
  for (const ArgSpec& arg : spec.args) {
    const std::string otherwise = arg.required ? "" : fmt::format("; by default {}", default_text(arg));
    text += fmt::format("{}: {}{}\n    {}\n", arg.name, permitted_text(arg), otherwise, arg.doc);
  }
  return text + (spec.args.empty() ? "" : "\n") + example;
}

}  // namespace

nb::object to_python(const Value& value) {
  struct Converter {
    nb::object operator()(bool flag) const { return nb::cast(flag); }
    nb::object operator()(double number) const {
      constexpr double kExactMax = 0x1p53;
      const bool whole = number == std::floor(number) && std::abs(number) <= kExactMax;
      return whole ? nb::cast(static_cast<std::int64_t>(number)) : nb::cast(number);
    }
    nb::object operator()(const std::string& text) const { return nb::cast(text); }
    nb::object operator()(const Numbers& numbers) const {
      nb::list list;
      for (const double number : numbers) list.append((*this)(number));
      return list;
    }
    nb::object operator()(const OperatorCalls& calls) const {
      nb::list list;
      for (const OperatorCall& call : calls) list.append(nb::cast(call));
      return list;
    }
  };
  return std::visit(Converter(), value);
}

OperatorCall call_of(const OperatorSpec& spec, const nb::args& positional, const nb::kwargs& named) {
  OperatorCall call{std::string(spec.name), {}};
  if (positional.size() > spec.args.size()) {
    fail(ErrorKind::kUsage, "{} takes at most {}, not {}", spec.name, counted(spec.args.size(), "argument"),
         positional.size());
  }
  for (std::size_t i = 0; i < positional.size(); ++i) {
    const std::string_view arg = spec.args[i].name;
    call.args.emplace_back(arg, value_argument(spec, arg, positional[i]));
  }
  for (const auto& [key, value] : named) {
    const std::string arg = shown_text(key);
    call.args.emplace_back(arg, value_argument(spec, arg, value));
  }
  return check_call(call);
}

std::string signature_of_method(const OperatorSpec& spec) {
  std::vector<std::string> all = parameters(spec);
  all.insert(all.begin(), "self");
  return fmt::format("def {}({}) -> Recipe", spec.name, fmt::join(all, ", "));
}

std::string documentation_of_method(const OperatorSpec& spec) { return documentation(spec, example_of_method(spec)); }

void bind_calls(nb::module_& module) {
  nb::class_<OperatorCall>(module, "OperatorCall",
                           "An operator with its arguments, as the functions of stoker.op make it: for Recipe.add() "
                           "and for operators that hold others."
                           "\n\n>>> stoker.op.random_flip(p=0.3)\n"
                           "stoker.op.random_flip(p=0.3, axis='horizontal')\n"
                           ">>> recipe = stoker.recipe().decode().random_apply([stoker.op.grayscale()], p=0.2)")
      .def_ro("name", &OperatorCall::name, "The operator's name.")
      .def_prop_ro("args", &arguments_of, "The arguments by name, also those with their default.")
      .def(
          "__eq__", [](const OperatorCall& self, const OperatorCall& other) { return self == other; },
          nb::is_operator())
      .def(
          "__ne__", [](const OperatorCall& self, const OperatorCall& other) { return !(self == other); },
          nb::is_operator())
      .def("__hash__", [](const OperatorCall& self) { return nb::hash(nb::str(to_string(self).c_str())); })
      .def("__repr__", &repr_call)
      .def("__reduce__", [](const OperatorCall& self) {
        const nb::object recreate = nb::module_::import_("stoker._pickle").attr("operator_call");
        return nb::make_tuple(recreate, nb::make_tuple(self.name, arguments_of(self)));
      });
  nb::module_ op = module.def_submodule("op",
                                        "The operators of recipes, as calls: stoker.op.flip()."
                                        "\n\n>>> stoker.op.center_crop(224)\n"
                                        "stoker.op.center_crop(size=[224], fill=[0])");
  for (const OperatorSpec& spec : operator_table()) {
    op.def(
        std::string(spec.name).c_str(),
        [&spec](const nb::args& positional, const nb::kwargs& named) { return call_of(spec, positional, named); },
        nb::sig(signature_of_function(spec).c_str()), documentation(spec, example_of_function(spec)).c_str());
  }
}

}  // namespace stoker::python
