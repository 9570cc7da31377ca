// A recipe's TOML form, read and written.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"
#include "stoker/base/units.h"
#include "stoker/ops/operator_table.h"
#include "stoker/plan/recipe.h"
#include "stoker/plan/toml_document.h"

namespace stoker {
namespace {

std::string line_of(const toml::node& node) { return fmt::format("line {}", node.source().begin.line); }

[[noreturn]] void refuse(const toml::node& node, std::string_view what) {
  fail(ErrorKind::kUsage, "{}: {}", line_of(node), what);
}

// What `action` throws, which knows nothing of lines, is about this node.
template <typename Action>
void at_line_of(const toml::node& node, Action action) {
  try {
    action();
  } catch (const Error& error) {
    throw error.with_context(line_of(node));
  }
}

void check_keys(const toml::table& table, const std::vector<std::string>& known) {
  for (const auto& [key, node] : table) {
    if (std::find(known.begin(), known.end(), std::string(key.str())) == known.end()) {
      refuse(node, fmt::format("'{}' is not known here{}; known are {}", key.str(), did_you_mean(key.str(), known),
                               fmt::join(known, ", ")));
    }
  }
}

bool flag_of(const toml::node& node, std::string_view what) {
  if (!node.is_boolean()) refuse(node, fmt::format("{} must be true or false", what));
  return *node.value<bool>();
}

std::string text_of(const toml::node& node, std::string_view what) {
  const auto text = node.value<std::string>();
  if (!node.is_string()) refuse(node, fmt::format("{} must be a text", what));
  return *text;
}

std::int64_t count_of(const toml::node& node, std::string_view what) {
  if (!node.is_integer()) refuse(node, fmt::format("{} must be a whole number", what));
  return *node.value<std::int64_t>();
}

double number_of(const toml::node& node) {
  if (const auto number = node.value<double>()) return *number;
  refuse(node, fmt::format("{} is too large: whole numbers are exact only up to 2^53", *node.value<std::int64_t>()));
}

OperatorCall call_of(const toml::node& node);

Value list_of(const toml::array& array) {
  if (!array.empty() && array.front().is_table()) {
    OperatorCalls calls;
    for (const toml::node& element : array) {
      OperatorCall call = call_of(element);
      at_line_of(element, [&] { calls.push_back(check_call(call)); });
    }
    return calls;
  }
  std::vector<double> numbers;
  for (const toml::node& element : array) {
    if (!element.is_number()) refuse(element, "a list may contain only numbers, or only operators");
    numbers.push_back(number_of(element));
  }
  return numbers;
}

Value value_of(const toml::node& node) {
  if (node.is_boolean()) return *node.value<bool>();
  if (node.is_number()) return number_of(node);
  if (node.is_string()) return *node.value<std::string>();
  if (const toml::array* array = node.as_array()) return list_of(*array);
  refuse(node, "an argument is a number, a text, a list of numbers or a list of operators");
}

OperatorCall call_of(const toml::node& node) {
  const toml::table* table = node.as_table();
  if (!table || !table->contains("op")) refuse(node, "an operator is written { op = \"name\", argument = value }");
  OperatorCall call;
  for (const auto& [key, value] : *table) {
    if (key.str() == "op") {
      call.name = text_of(value, "op");
    } else {
      call.args.emplace_back(std::string(key.str()), value_of(value));
    }
  }
  return call;
}

std::optional<int> copies_of(const toml::table& table) {
  const toml::node* const copies = table.get("copies");
  if (!copies) return std::nullopt;
  const auto number = copies->value<std::int64_t>();
  if (!copies->is_integer() || *number < 1 || *number > kCopiesMax) {
    refuse(*copies, fmt::format("copies must be a whole number, at least 1 and at most {}", kCopiesMax));
  }
  return static_cast<int>(*number);
}

void check_unique(const toml::node& node, const std::vector<View>& views, std::string_view name) {
  if (std::any_of(views.begin(), views.end(), [&](const View& view) { return view.name == name; })) {
    refuse(node, fmt::format("there are two views '{}'", name));
  }
}

View view_of(const toml::table& table) {
  check_keys(table, {"name", "field", "copies", "draw_group", "like", "optional", "operators"});
  const toml::node* name = table.get("name");
  if (!name) refuse(table, "a view needs a name");
  View view{text_of(*name, "name"), {}, {}};
  const toml::node* field = table.get("field");
  view.field = field ? text_of(*field, "field") : view.name;
  if (const toml::node* group = table.get("draw_group")) view.draw_group = text_of(*group, "draw_group");
  if (const toml::node* like = table.get("like")) view.like = text_of(*like, "like");
  if (const toml::node* optional = table.get("optional")) view.is_optional = flag_of(*optional, "optional");
  return view;
}

/// Adds the calls of a list to the batch, or to the current view.
void add_calls(const toml::node& list, bool of_batch, Recipe& recipe) {
  if (!list.is_array()) refuse(list, of_batch ? "batch must be a list of operators" : "operators must be a list");
  for (const toml::node& op : *list.as_array()) {
    OperatorCall call = call_of(op);
    at_line_of(op, [&] {
      const bool wants_batch = is_of_batch(find_operator(call.name));
      if (of_batch && !wants_batch) {
        fail(ErrorKind::kUsage, "{} works on single samples: it belongs in the operators of a view", call.name);
      }
      if (wants_batch && !of_batch) {
        fail(ErrorKind::kUsage, "{} works on whole batches: it belongs in the list 'batch' before the first view",
             call.name);
      }
      recipe.add(std::move(call));
    });
  }
}

std::vector<TakenValue> taken_of(const toml::node& node) {
  std::vector<TakenValue> takes;
  if (const toml::table* const table = node.as_table()) {
    for (const auto& [view, parameter] : *table) {
      takes.push_back({std::string(view.str()), text_of(parameter, "a parameter's name")});
    }
  } else if (const toml::array* const array = node.as_array()) {
    for (const toml::node& view : *array) takes.push_back({text_of(view, "a view's name")});
  } else {
    refuse(node, "takes is a list of views, or a table of views and the function's parameters");
  }
  return takes;
}

const toml::node& needed(const toml::table& table, const char* key, std::string_view of) {
  const toml::node* const node = table.get(key);
  if (!node) refuse(table, fmt::format("{} needs {}", of, key));
  return *node;
}

Shape shape_of(const toml::node& node, std::string_view name) {
  const toml::array* const extents = node.as_array();
  if (!extents || extents->size() > Shape::kMaxRank - 1) {
    refuse(node, fmt::format("the shape of '{}' must be a list of at most {} extents", name, Shape::kMaxRank - 1));
  }
  Shape shape;
  for (const toml::node& extent : *extents) {
    const std::int64_t count = count_of(extent, "an extent");
    if (count < 1) refuse(extent, "an extent must be at least 1; rows that vary in number have most = the largest");
    shape.append(count);
  }
  return shape;
}

GivenValue given_of(const toml::node& node) {
  const toml::table* const table = node.as_table();
  if (!table) refuse(node, R"(an output is written { name = "image", dtype = "u8", shape = [224, 224, 3] })");
  check_keys(*table, {"name", "dtype", "shape", "most", "fill"});
  GivenValue given{text_of(needed(*table, "name", "an output"), "name")};
  const toml::node& dtype = needed(*table, "dtype", "an output");
  at_line_of(dtype, [&] { given.dtype = parse_dtype(text_of(dtype, "dtype")); });
  given.shape = shape_of(needed(*table, "shape", "an output"), given.name);
  if (const toml::node* const most = table->get("most")) {
    const std::int64_t rows = count_of(*most, "most");
    if (rows < 1) refuse(*most, "most must be at least 1");
    given.is_ragged = true;
    given.shape = given.shape.with_outer(rows);
  }
  if (const toml::node* const fill = table->get("fill")) {
    if (!given.is_ragged) refuse(*fill, "fill is of rows: it needs most = their number");
    given.fill = number_of(*fill);
  }
  return given;
}

FunctionSpec function_of(const toml::table& table) {
  check_keys(table, {"name", "python", "library", "takes", "gives", "arguments", "isolated", "batch", "values",
                     "random", "timeout", "memory", "version"});
  FunctionSpec function{.name = text_of(needed(table, "name", "a function"), "name"),
                        .takes = taken_of(needed(table, "takes", "a function"))};
  const toml::node& gives = needed(table, "gives", "a function");
  if (!gives.is_array()) refuse(gives, "gives must be a list of outputs");
  for (const toml::node& given : *gives.as_array()) function.gives.push_back(given_of(given));
  const auto for_text = [&](const char* key, const auto& use) {
    const toml::node* const node = table.get(key);
    if (node) at_line_of(*node, [&] { use(text_of(*node, key)); });
  };
  for_text("python", [&](const std::string& path) { function.python = path; });
  for_text("library", [&](const std::string& path) { function.library = path; });
  for_text("arguments", [&](const std::string& json) { function.arguments = json; });
  for_text("values", [&](const std::string& name) { function.values = parse_value_form(name); });
  for_text("random", [&](const std::string& name) { function.random = parse_function_random(name); });
  for_text("memory", [&](const std::string& size) { function.memory_max = parse_size(size); });
  for_text("version", [&](const std::string& version) { function.version = version; });
  const auto for_flag = [&](const char* key, bool& flag) {
    const toml::node* const node = table.get(key);
    if (!node) return;
    flag = flag_of(*node, key);
  };
  for_flag("isolated", function.is_isolated);
  for_flag("batch", function.whole_batch);
  if (const toml::node* const timeout = table.get("timeout")) {
    if (!timeout->is_number()) refuse(*timeout, "timeout must be a number of seconds");
    function.timeout_s = number_of(*timeout);
  }
  return function;
}

std::string toml_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (const auto byte = static_cast<unsigned char>(c); byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\u{:04X}", byte);
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string toml_text(const OperatorCall& call, int indent);

// A value that begins on a line indented by so many columns.
std::string toml_text(const Value& value, int indent) {
  if (const auto* text = std::get_if<std::string>(&value)) return toml_quoted(*text);
  const auto* calls = std::get_if<OperatorCalls>(&value);
  if (!calls) return to_string(value);
  std::string list = "[\n";
  for (const OperatorCall& call : *calls) list += toml_text(call, indent + 2);
  return list + fmt::format("{:{}}]", "", indent);
}

// With the end of its line. The call was checked, so that it has all arguments.
std::string toml_text(const OperatorCall& call, int indent) {
  const std::span<const ArgSpec> specs = find_operator(call.name).args;
  std::string text = fmt::format("{:{}}{{ op = \"{}\"", "", indent, call.name);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto& [name, value] = call.args[i];
    if (specs[i].later && value == default_value(specs[i])) continue;
    text += fmt::format(", {} = {}", name, toml_text(value, indent));
  }
  return text + " },\n";
}

std::string toml_text(const GivenValue& given) {
  const std::span<const std::int64_t> extents = given.shape.extents().subspan(given.is_ragged ? 1 : 0);
  std::string text = fmt::format(R"({{ name = "{}", dtype = "{}", shape = [{}])", given.name, to_string(given.dtype),
                                 fmt::join(extents, ", "));
  if (given.is_ragged) text += fmt::format(", most = {}", given.shape[0]);
  if (given.fill) text += fmt::format(", fill = {}", *given.fill);
  return text + " }";
}

// What is as it is by default is left out.
std::string toml_text(const FunctionSpec& function) {
  const FunctionSpec usual;
  std::string takes, gives;
  for (const TakenValue& taken : function.takes) {
    if (!takes.empty()) takes += ", ";
    takes += function.takes_by_name() ? fmt::format("{} = {}", toml_quoted(taken.view), toml_quoted(taken.parameter))
                                      : toml_quoted(taken.view);
  }
  for (const GivenValue& given : function.gives) gives += "  " + toml_text(given) + ",\n";
  std::string text =
      fmt::format("\n[[function]]\nname = \"{}\"\n{} = {}\ntakes = {}\ngives = [\n{}]\n", function.name,
                  function.library.empty() ? "python" : "library",
                  toml_quoted(function.library.empty() ? function.python : function.library),
                  function.takes_by_name() ? fmt::format("{{ {} }}", takes) : fmt::format("[{}]", takes), gives);
  const auto add = [&](const char* key, std::string_view value, bool is_usual) {
    if (!is_usual) text += fmt::format("{} = {}\n", key, value);
  };
  add("arguments", toml_quoted(function.arguments), function.arguments.empty());
  add("isolated", "true", !function.is_isolated);
  add("batch", "true", !function.whole_batch);
  add("values", toml_quoted(to_string(function.values)), function.values == usual.values);
  add("random", toml_quoted(to_string(function.random)), function.random == usual.random);
  add("timeout", fmt::format("{}", function.timeout_s), function.timeout_s == usual.timeout_s);
  add("memory", toml_quoted(fmt::format("{}", function.memory_max)), function.memory_max == usual.memory_max);
  add("version", toml_quoted(function.version), function.version.empty());
  return text;
}

}  // namespace

Recipe Recipe::from_toml(std::string_view text) {
  const toml::table root = parse_toml(text, "a recipe");
  check_keys(root, {"tail", "batch_repeats", "batch", "view", "function"});
  Recipe recipe;
  recipe.views_.clear();
  recipe.has_default_image_ = false;
  if (const toml::node* node = root.get("tail")) {
    const std::string tail = text_of(*node, "tail");
    at_line_of(*node, [&] { recipe.set_tail(tail); });
  }
  if (const toml::node* node = root.get("batch_repeats")) {
    const std::int64_t repeats = count_of(*node, "batch_repeats");
    at_line_of(*node, [&] { recipe.set_batch_repeats(repeats); });
  }
  if (const toml::node* batch = root.get("batch")) add_calls(*batch, true, recipe);
  const toml::node* views = root.get("view");
  if (views && views->is_table()) refuse(*views, "a recipe may have several views: write [[view]], not [view]");
  if (!views || !views->is_array_of_tables()) fail(ErrorKind::kUsage, "a recipe needs at least one [[view]]");
  for (const toml::node& node : *views->as_array()) {
    const View view = view_of(*node.as_table());
    const std::optional<int> copies = copies_of(*node.as_table());
    if (!copies) check_unique(node, recipe.views_, view.name);
    for (int i = 0; i < copies.value_or(0); ++i) {
      check_unique(node, recipe.views_, copy_name(view.name, static_cast<std::size_t>(i)));
    }
    at_line_of(node, [&] {
      recipe.view(view.name, view.field, copies);
      if (!view.draw_group.empty()) recipe.draw_group(view.draw_group);
      if (!view.like.empty()) recipe.like(view.like);
      if (view.is_optional) recipe.optional();
    });
    if (const toml::node* operators = node.as_table()->get("operators")) add_calls(*operators, false, recipe);
  }
  const auto image =
      std::find_if(recipe.views_.begin(), recipe.views_.end(), [](const View& view) { return view.name == "image"; });
  if (image != recipe.views_.end()) recipe.view("image");  // what calls continue
  if (const toml::node* const functions = root.get("function")) {
    if (!functions->is_array_of_tables()) refuse(*functions, "functions are written as [[function]]");
    for (const toml::node& node : *functions->as_array()) {
      FunctionSpec function = function_of(*node.as_table());
      at_line_of(node, [&] { recipe.map(std::move(function)); });
    }
  }
  return recipe;
}

std::string Recipe::to_toml() const {
  const auto calls_text = [](const std::vector<OperatorCall>& calls) {
    std::string text = "[\n";
    for (const OperatorCall& call : calls) text += toml_text(call, 2);
    return text + "]\n";
  };
  std::string text = fmt::format("tail = \"{}\"\n", tail_);
  if (batch_repeats_ != 1) text += fmt::format("batch_repeats = {}\n", batch_repeats_);
  if (!batch_.empty()) text += "batch = " + calls_text(batch_);
  for (const View& view : views_) {
    text += fmt::format("\n[[view]]\nname = \"{}\"\nfield = {}\n", view.name, toml_quoted(view.field));
    if (!view.draw_group.empty()) text += fmt::format("draw_group = {}\n", toml_quoted(view.draw_group));
    if (!view.like.empty()) text += fmt::format("like = {}\n", toml_quoted(view.like));
    if (view.is_optional) text += "optional = true\n";
    text += "operators = " + calls_text(view.operators);
  }
  for (const FunctionSpec& function : functions_) text += toml_text(function);
  return text;
}

}  // namespace stoker
