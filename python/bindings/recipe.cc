// Recipe. In Python recipes are values: each call of the chain gives a new one. The methods are made from the operator
// table, so that their arguments, defaults and checks are its own; the stub file lists them for people and type
// checkers.
#include "python/bindings/recipe.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/apply.h"
#include "python/bindings/arguments.h"
#include "python/bindings/function.h"
#include "python/bindings/module.h"
#include "python/bindings/operator_calls.h"
#include "stoker/base/error.h"
#include "stoker/ops/operator_table.h"
#include "stoker/order/epoch_order.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stoker::python {
namespace {

Recipe with_call(const Recipe& recipe, const OperatorCall& call) {
  Recipe longer = recipe;
  longer.add(call);
  return longer;
}

Recipe with_added(const Recipe& recipe, nb::handle call) {
  if (!nb::isinstance<OperatorCall>(call)) {
    fail(ErrorKind::kUsage, "call is {}, but must be an operator, such as stoker.op.flip()", describe(call));
  }
  return with_call(recipe, nb::cast<const OperatorCall&>(call));
}

// Of a name that is neither an operator nor a method. An AttributeError, for others ask by it what there is.
nb::object no_such_method(const Recipe& /*self*/, const nb::str& attribute) {
  const std::string name = shown_text(attribute);
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
          return with_call(self, call_of(spec, positional, named));
        },
        nb::sig(signature_of_method(spec).c_str()), documentation_of_method(spec).c_str());
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
  for (const FunctionSpec& function : recipe.functions()) text += fmt::format("map: {}; ", function.name);
  if (!recipe.batch().empty()) text += "batch:";
  for (const OperatorCall& call : recipe.batch()) text += " " + to_string(call);
  if (!recipe.batch().empty()) text += "; ";
  text += fmt::format("tail='{}'", recipe.tail());
  if (recipe.batch_repeats() != 1) text += fmt::format("; batch_repeats={}", recipe.batch_repeats());
  return text + ")";
}

// The text, and of each function what a module does not have.
nb::tuple state_of(const Recipe& recipe) {
  nb::list payloads;
  for (const FunctionSpec& function : recipe.functions()) {
    payloads.append(nb::bytes(function.payload.data(), function.payload.size()));
  }
  return nb::make_tuple(recipe.to_toml(), payloads);
}

Recipe recipe_of(const nb::tuple& state) {
  std::vector<std::string> payloads;
  for (const nb::handle payload : state[1]) {
    const nb::bytes bytes = nb::borrow<nb::bytes>(payload);
    payloads.emplace_back(bytes.c_str(), bytes.size());
  }
  Recipe recipe = Recipe::from_toml(nb::cast<std::string>(state[0]));
  recipe.set_function_payloads(std::move(payloads));
  return recipe;
}

Recipe with_view(const Recipe& recipe, nb::handle name, nb::handle field, nb::handle copies) {
  Recipe longer = recipe;
  longer.view(
      text_argument("name", name), text_argument("field", field),
      copies.is_none() ? std::optional<int>() : static_cast<int>(integer_argument("copies", copies, 1, kCopiesMax)));
  return longer;
}

Recipe with_draw_group(const Recipe& recipe, nb::handle group) {
  Recipe changed = recipe;
  changed.draw_group(text_argument("group", group));
  return changed;
}

Recipe with_like(const Recipe& recipe, nb::handle name) {
  Recipe changed = recipe;
  changed.like(text_argument("name", name));
  return changed;
}

Recipe with_optional(const Recipe& recipe) {
  Recipe changed = recipe;
  changed.optional();
  return changed;
}

Recipe with_tail(const Recipe& recipe, nb::handle tail) {
  Recipe changed = recipe;
  changed.set_tail(to_string(parse_tail(text_argument("tail", tail))));
  return changed;
}

Recipe with_batch_repeats(const Recipe& recipe, nb::handle repeats) {
  Recipe changed = recipe;
  changed.set_batch_repeats(integer_argument("repeats", repeats, 1, std::numeric_limits<std::int64_t>::max()));
  return changed;
}

void bind_chain(nb::class_<Recipe>& recipe) {
  bind_operators(recipe);
  recipe
      .def("add", &with_added, "call"_a.none(),
           "Adds an operator that a function of stoker.op made."
           "\n\n>>> recipe = stoker.recipe().decode().resize(256).add(stoker.op.center_crop(224))\n"
           ">>> recipe == stoker.recipe().decode().resize(256).center_crop(224)\n"
           "True")
      .def("view", &with_view, "name"_a.none(), "field"_a.none() = "image", "copies"_a.none() = nb::none(),
           "The operators after this call describe the output of this name, made from the field; the call adds the "
           "output if\nthe recipe has none of this name.\n\nname: a word of letters, digits and _\nfield: a field of "
           "the samples; by default the image, under any name\ncopies: describe so many outputs, name_0, name_1 and so "
           "on, each with random numbers of its own"
           "\n\n>>> crops = stoker.recipe().view(\"crop\", copies=2).decode().random_resized_crop(224)\n"
           ">>> next(iter(stoker.Loader(\"photos\", crops, batch=8))).outputs\n"
           "('label', 'crop_0', 'crop_1')")
      .def(
          "draw_group", &with_draw_group, "group"_a.none(),
          "Views of one group draw the same random numbers; by default a view's group is its name. Copies are put into "
          "group_0,\ngroup_1 and so on."
          "\n\n>>> recipe = stoker.recipe().decode().random_resized_crop(224).random_flip()\n"
          ">>> recipe = recipe.view(\"small\").draw_group(\"image\").decode().random_resized_crop(112).random_flip()")
      .def("like", &with_like, "name"_a.none(),
           "Lets this view go along with another one: a mask, or boxes, with an image, through the same crops, flips "
           "and warps;\nlabels, keypoints and masks of objects with boxes. Copies go along with name_0, name_1 and so "
           "on."
           "\n\n>>> recipe = stoker.recipe().decode().random_resized_crop(512).random_flip()\n"
           ">>> recipe = recipe.view(\"mask\", \"png\").like(\"image\").decode_mask()")
      .def("optional", &with_optional,
           "Lets samples lack this view's field: they have no boxes then, an empty text, or no tokens.\nFor "
           "decode_boxes, decode_text, decode_bytes and decode_tokens."
           "\n\n>>> recipe = stoker.recipe(\"imagenet-val\").view(\"caption\", \"txt\").optional().decode_text()\n"
           ">>> len(next(iter(stoker.Loader(\"photos\", recipe, batch=8))).caption.as_texts())\n"
           "8")
      .def(
          "map", &with_function, nb::sig(kMapSignature),
          "Calls a function once for each sample, in processes beside the loader's threads: anything that can be "
          "called, such as\nalbumentations' Compose or torchvision's.\n\nfunction: one that a module has, or that can "
          "be pickled; or where one is: 'module:function', 'libmine.so:function'\ntakes: the views whose values it "
          "gets, which are then no outputs; a dict names the parameters "
          "{'image': 'image',\n    'boxes': 'bboxes'}\ngives: the outputs that it returns, {'image': ('u8', (224, 224, "
          "3))}, in this order or as a dict; with a third member\n    'most' a sample has up to so many rows of this "
          "shape\nname: of messages and states, and of its random numbers\nvalues: 'numpy', 'torch', 'torchvision' "
          "(tv_tensors) or 'pil'\nrandom: 'seeded': through a parameter `rng`, numpy's Generator; else random, numpy "
          "and torch are seeded before each call;\n    'own': not repeatable\ntimeout: of one call, in "
          "seconds\nmemory: of its process, which is started anew when it has more\nversion: any text; a state is "
          "refused by a recipe with another\narguments: more that it is called with, as JSON can say it\nisolated: run "
          "one of a "
          "library in a process of its own, too\nbatch: call it once for each batch, with the values of all its slots, "
          "each array with one more axis, the first"
          "\n\n>>> recipe = stoker.recipe().decode().resize([64, 64]).layout(\"nhwc\")\n"
          ">>> recipe = recipe.map(\"numpy:invert\", \"image\", {\"image\": (\"u8\", (64, 64, 3))})\n"
          ">>> next(iter(stoker.Loader(\"photos\", recipe, batch=8))).image\n"
          "Tensor(shape=(8, 64, 64, 3), dtype='uint8')")
      .def("set_tail", &with_tail, "tail"_a.none(),
           "What a loader without a tail of its own does with an incomplete last batch: 'drop', 'wrap', 'pad' or "
           "'keep'."
           "\n\n>>> recipe = stoker.recipe(\"imagenet-train\").set_tail(\"keep\")\n"
           ">>> [len(batch) for batch in stoker.Loader(\"photos\", recipe, batch=16)]\n"
           "[16, 8]")
      .def_prop_ro("tail", &Recipe::tail, "What set_tail() set.")
      .def("set_batch_repeats", &with_batch_repeats, "repeats"_a.none(),
           "How often each sample of a global batch stands in it, augmented anew each time, for a loader without "
           "batch_repeats\nof its own. An epoch grows no longer: it has fewer of the samples."
           "\n\n>>> recipe = stoker.recipe(\"imagenet-train\").set_batch_repeats(4)\n"
           ">>> len(set(next(iter(stoker.Loader(\"photos\", recipe, batch=8))).key))\n"
           "2")
      .def_prop_ro("batch_repeats", &Recipe::batch_repeats, "What set_batch_repeats() set.");
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
    "label: int | None = None, reference: bool = False, pixels_max: int | None = None, batch: int = 0) -> dict[str, "
    "NDArray[Any]]";

void bind_recipe(nb::module_& module) {
  nb::class_<Recipe> recipe(
      module, "Recipe",
      "The processing of a sample, as a chain of operators. A value: each call returns a new recipe."
      "\n\n>>> recipe = stoker.recipe().decode().random_resized_crop(224).random_flip().normalize(\"imagenet\")\n"
      ">>> recipe.tail\n"
      "'drop'");
  recipe.def(nb::init<>(), "A recipe without operators, as stoker.recipe() makes it.");
  bind_chain(recipe);
  recipe
      .def_static(
          "from_toml", [](nb::handle text) { return Recipe::from_toml(text_argument("text", text)); }, "text"_a.none(),
          "The recipe that a TOML text describes, as to_toml() writes it and recipe files hold it."
          "\n\n>>> recipe = stoker.Recipe.from_toml(\"\"\"\n"
          "... [[view]]\n"
          "... name = \"image\"\n"
          "... operators = [{ op = \"decode\" }, { op = \"center_crop\", size = 224 }]\n"
          "... \"\"\")\n"
          ">>> recipe.apply(stoker.open(\"photos\")[0])[\"image\"].shape\n"
          "(3, 224, 224)")
      .def("to_toml", &Recipe::to_toml,
           "The recipe as a TOML text."
           "\n\n>>> recipe = stoker.recipe(\"imagenet-val\")\n"
           ">>> stoker.Recipe.from_toml(recipe.to_toml()) == recipe\n"
           "True")
      .def(
          "__eq__", [](const Recipe& self, const Recipe& other) { return self == other; }, nb::is_operator())
      .def(
          "__ne__", [](const Recipe& self, const Recipe& other) { return !(self == other); }, nb::is_operator())
      .def("__hash__", [](const Recipe& self) { return nb::hash(nb::str(self.to_toml().c_str())); })
      .def("__repr__", &repr_recipe)
      .def("__getattr__", &no_such_method, "name"_a)
      .def("__getstate__", &state_of)
      .def("__setstate__", [](Recipe& self, const nb::tuple& state) { new (&self) Recipe(recipe_of(state)); })
      .def("apply", &apply_recipe, nb::sig(kApply),
           "The outputs for one encoded image, by name, as numpy arrays.\n\ndata: the image's bytes, or a dict of "
           "bytes by field, such as a data set's sample\nseed, epoch, position: select the random numbers\nlabel: the "
           "value of the output 'label'; by default the dict's\nreference: run the slow executor that defines the "
           "pixels instead of the fast one\npixels_max: refuse images of more pixels; by default 89,000,000\nbatch: "
           "the global batch in which the sample "
           "stands, for what is drawn once for a whole batch"
           "\n\n>>> image = stoker.recipe(\"imagenet-train\").apply(stoker.open(\"photos\")[0], seed=7)[\"image\"]\n"
           ">>> image.shape, image.dtype.name\n"
           "((3, 224, 224), 'float32')");
  module.def(
      "recipe", [](nb::handle name) { return name.is_none() ? Recipe() : recipe_argument(name); },
      "name"_a = nb::none(),
      "A new recipe without operators; or a recipe that ships with Stoker, by name; or one from a .toml file."
      "\n\n>>> stoker.recipe(\"imagenet-val\").tail\n"
      "'pad'");
}

}  // namespace stoker::python
