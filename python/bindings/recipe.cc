// Recipe. In Python recipes are values: each call of the chain gives a new one. The methods are made from the operator
// table, so that their arguments, defaults and checks are its own; the stub file lists them for people and type
// checkers.
#include "python/bindings/recipe.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/apply.h"
#include "python/bindings/arguments.h"
#include "python/bindings/module.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/ops/argument_text.h"
#include "stoker/ops/operator_table.h"
#include "stoker/order/epoch_order.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stoker::python {
namespace {

const ArgSpec* find_argument(const OperatorSpec& spec, std::string_view name) {
  const auto found = std::find_if(spec.args.begin(), spec.args.end(), [&](const ArgSpec& a) { return a.name == name; });
  return found == spec.args.end() ? nullptr : &*found;
}

std::string_view wanted(ArgType type) {
  switch (type) {
    case ArgType::kText: return "a text";
    case ArgType::kNumber: return "a number";
    case ArgType::kInteger: return "a whole number";
    case ArgType::kNumbers: return "a number or a list of numbers";
    case ArgType::kIntegers: break;
  }
  return "a whole number or a list of whole numbers";
}

bool may_be_list(nb::handle value) {
  return nb::isinstance<nb::iterable>(value) && !PyBytes_Check(value.ptr()) && !PyDict_Check(value.ptr()) &&
         !PyAnySet_Check(value.ptr());
}

Value value_argument(const OperatorSpec& spec, std::string_view name, nb::handle value) {
  const ArgSpec* arg = find_argument(spec, name);
  if (!arg) return false;  // the table's check complains of the name, whatever the value
  if (PyBool_Check(value.ptr())) return value.is(nb::handle(Py_True));
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
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
  fail(ErrorKind::kUsage, "{}: {} is {}, but must be {}", spec.name, name, describe(value), wanted(arg->type));
}

Recipe with_call(const Recipe& recipe, std::string_view name, const nb::args& positional, const nb::kwargs& named) {
  const OperatorSpec& spec = find_operator(name);
  OperatorCall call{std::string(name), {}};
  if (positional.size() > spec.args.size()) {
    fail(ErrorKind::kUsage, "{} takes at most {}, not {}", name, counted(spec.args.size(), "argument"),
         positional.size());
  }
  for (std::size_t i = 0; i < positional.size(); ++i) {
    const std::string_view arg = spec.args[i].name;
    call.args.emplace_back(arg, value_argument(spec, arg, positional[i]));
  }
  for (const auto& [key, value] : named) {
    const std::string arg = nb::cast<std::string>(key);
    call.args.emplace_back(arg, value_argument(spec, arg, value));
  }
  Recipe longer = recipe;
  longer.add(std::move(call));
  return longer;
}

std::string python_type(const ArgSpec& arg) {
  const bool whole = arg.type == ArgType::kInteger || arg.type == ArgType::kIntegers;
  switch (arg.type) {
    case ArgType::kText: return "str";
    case ArgType::kNumber:
    case ArgType::kInteger: return whole ? "int" : "float";
    case ArgType::kNumbers:
    case ArgType::kIntegers: break;
  }
  const std::string list = whole ? "Sequence[int]" : "Sequence[float]";
  return arg.counts & 1u << 1 ? fmt::format("{} | {}", whole ? "int" : "float", list) : list;
}

std::string signature(const OperatorSpec& spec) {
  std::string text = fmt::format("def {}(self", spec.name);
  for (const ArgSpec& arg : spec.args) {
    text += fmt::format(", {}: {}", arg.name, python_type(arg));
    if (!arg.required) text += fmt::format(" = {}", to_string(default_value(arg)));
  }
  return text + ") -> Recipe";
}

std::string documentation(const OperatorSpec& spec) {
  std::string text = fmt::format("{}: {}.\n\n", family_name(spec), spec.doc);
  for (const ArgSpec& arg : spec.args) {
    const std::string otherwise = arg.required ? "" : fmt::format("; by default {}", default_text(arg));
    text += fmt::format("{}: {}{}\n    {}\n", arg.name, permitted_text(arg), otherwise, arg.doc);
  }
  return text;
}

// Of a name that is neither an operator nor a method. An AttributeError, for others ask by it what there is.
nb::object no_such_method(const Recipe& /*self*/, const std::string& name) {
  std::string why = fmt::format("'Recipe' has no '{}'", name);
  if (!name.starts_with('_')) {
    try {
      find_operator(name);
    } catch (const Error& error) {
      why = error.message();
    }
  }
  throw nb::attribute_error(why.c_str());
}

void bind_operators(nb::class_<Recipe>& recipe) {
  for (const OperatorSpec& spec : operator_table()) {
    recipe.def(
        std::string(spec.name).c_str(),
        [&spec](const Recipe& self, const nb::args& positional, const nb::kwargs& named) {
          return with_call(self, spec.name, positional, named);
        },
        nb::sig(signature(spec).c_str()), documentation(spec).c_str());
  }
}

std::string repr_recipe(const Recipe& recipe) {
  std::string text = "Recipe(";
  for (const View& view : recipe.views()) {
    text += view.name == view.field ? view.name : fmt::format("{} of {}", view.name, view.field);
    text += ":";
    for (const OperatorCall& call : view.operators) text += " " + to_string(call);
    text += "; ";
  }
  if (!recipe.batch().empty()) text += "batch:";
  for (const OperatorCall& call : recipe.batch()) text += " " + to_string(call);
  if (!recipe.batch().empty()) text += "; ";
  return text + fmt::format("tail='{}')", recipe.tail());
}

Recipe with_view(const Recipe& recipe, nb::handle name, nb::handle field) {
  Recipe longer = recipe;
  longer.view(text_argument("name", name), text_argument("field", field));
  return longer;
}

Recipe with_tail(const Recipe& recipe, nb::handle tail) {
  Recipe changed = recipe;
  changed.set_tail(to_string(parse_tail(text_argument("tail", tail))));
  return changed;
}

void bind_chain(nb::class_<Recipe>& recipe) {
  bind_operators(recipe);
  recipe
      .def("view", &with_view, "name"_a.none(), "field"_a.none() = "image",
           "The operators after this call describe the output of this name, made from the field; the call adds the "
           "output if\nthe recipe has none of this name.\n\nname: a word of letters, digits and _\nfield: a field of "
           "the samples; by default the image, under any name")
      .def("set_tail", &with_tail, "tail"_a.none(),
           "What a loader without a tail of its own does with an incomplete last batch: 'drop', 'wrap', 'pad' or "
           "'keep'.")
      .def_prop_ro("tail", &Recipe::tail);
}

}  // namespace

Recipe recipe_argument(nb::handle recipe) {
  if (nb::isinstance<Recipe>(recipe)) return nb::cast<Recipe>(recipe);
  if (!nb::isinstance<nb::str>(recipe) && !nb::hasattr(recipe, "__fspath__")) {
    fail(ErrorKind::kUsage, "recipe is {}, but must be a Recipe, the name of one ({}) or the path of a TOML file",
         describe(recipe), fmt::join(Recipe::names(), ", "));
  }
  return Recipe::load(path_argument("recipe", recipe));
}

// As the stub file has it.
constexpr const char* kApply =
    "def apply(self, data: _Bytes | dict[str, Any], *, seed: int = 0, epoch: int = 0, position: int = 0, "
    "label: int | None = None, reference: bool = False, pixels_max: int | None = None) -> dict[str, NDArray[Any]]";

void bind_recipe(nb::module_& module) {
  nb::class_<Recipe> recipe(
      module, "Recipe",
      "The processing of a sample, as a chain of operators. A value: each call returns a new recipe.");
  recipe.def(nb::init<>(), "A recipe without operators, as stoker.recipe() makes it.");
  bind_chain(recipe);
  recipe
      .def_static(
          "from_toml", [](nb::handle text) { return Recipe::from_toml(text_argument("text", text)); }, "text"_a.none(),
          "The recipe that a TOML text describes, as to_toml() writes it and recipe files hold it.")
      .def("to_toml", &Recipe::to_toml, "The recipe as a TOML text.")
      .def(
          "__eq__", [](const Recipe& self, const Recipe& other) { return self == other; }, nb::is_operator())
      .def(
          "__ne__", [](const Recipe& self, const Recipe& other) { return !(self == other); }, nb::is_operator())
      .def("__hash__", [](const Recipe& self) { return nb::hash(nb::str(self.to_toml().c_str())); })
      .def("__repr__", &repr_recipe)
      .def("__getattr__", &no_such_method, "name"_a)
      .def("__getstate__", &Recipe::to_toml)
      .def("__setstate__", [](Recipe& self, const std::string& toml) { new (&self) Recipe(Recipe::from_toml(toml)); })
      .def("apply", &apply_recipe, nb::sig(kApply),
           "The outputs for one encoded image, by name, as numpy arrays.\n\ndata: the image's bytes, or a dict of "
           "bytes by field, such as a data set's sample\nseed, epoch, position: select the random numbers\nlabel: the "
           "value of the output 'label'; by default the dict's\nreference: run the slow executor that defines the "
           "pixels instead of the fast one\npixels_max: refuse images of more pixels; by default 89,000,000");
  module.def(
      "recipe", [](nb::handle name) { return name.is_none() ? Recipe() : recipe_argument(name); },
      "name"_a = nb::none(),
      "A new recipe without operators; or a recipe that ships with Stoker, by name; or one from a .toml file.");
}

}  // namespace stoker::python
