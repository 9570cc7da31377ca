#include "python/bindings/function.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "python/bindings/arguments.h"
#include "python/bindings/call_arguments.h"
#include "python/bindings/interpreter_lock.h"
#include "python/bindings/numpy_array.h"
#include "stoker/base/error.h"
#include "stoker/function/python/function_introduction.h"
#include "stoker/function/python/host_source.h"
#include "stoker/function/python/python_home.h"
#include "stoker/function/sample_function.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stoker::python {

const char* const kMapSignature =
    "def map(self, function: Callable[..., Any] | str, takes: str | Sequence[str] | Mapping[str, str], gives: "
    "Mapping[str, "
    "tuple[Any, Sequence[int]] | tuple[Any, Sequence[int], int] | tuple[Any, Sequence[int], int, float]], *, name: str "
    "| None = None, values: str = 'numpy', "
    "random: str = 'seeded', timeout: float = 60, memory: int | str = '4GiB', version: str = '', arguments: "
    "Mapping[str, Any] | None = None, isolated: bool = False, batch: bool = False) -> Recipe";

namespace {

// Ctrl-C, an exit and a lack of memory are no mistakes, and stay what they are. Called from a catch clause.
void pass_on_unless_mistake(const nb::python_error& error) {
  if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw;
}

/// What Python raises in `work` as an error of ours.
template <typename Work>
auto as_usage(const Work& work) {
  try {
    return work();
  } catch (const nb::python_error& error) {
    pass_on_unless_mistake(error);
    fail(ErrorKind::kUsage, "{}", shown_text(error.value()));
  }
}

// What can be called, or where it is: "module:function", "libmine.so:function".
FunctionSpec function_argument(nb::handle function) {
  const nb::tuple packed =
      as_usage([&] { return nb::borrow<nb::tuple>(nb::module_::import_("stoker._function").attr("pack")(function)); });
  const std::string place = text_argument("function", packed[0]);
  FunctionSpec spec{.name = nb::cast<std::string>(packed[2])};
  (place.find(".so:") == std::string::npos ? spec.python : spec.library) = place;
  const nb::bytes payload = nb::borrow<nb::bytes>(packed[1]);
  spec.payload.assign(payload.c_str(), payload.size());
  return spec;
}

std::vector<TakenValue> taken_argument(nb::handle takes) {
  std::vector<TakenValue> taken;
  if (nb::isinstance<nb::dict>(takes)) {
    for (const auto& [view, parameter] : nb::borrow<nb::dict>(takes)) {
      taken.push_back({text_argument("takes", view), text_argument("takes", parameter)});
    }
  } else if (nb::isinstance<nb::str>(takes)) {
    taken.push_back({text_argument("takes", takes)});
  } else if (nb::isinstance<nb::iterable>(takes)) {
    for (const nb::handle view : takes) taken.push_back({text_argument("takes", view)});
  } else {
    fail(ErrorKind::kUsage, "takes is {}, but must be a view's name, a list of them, or a dict of views and parameters",
         describe(takes));
  }
  return taken;
}

// By our name, or by any that numpy knows.
DType dtype_argument(nb::handle dtype) {
  std::string name = nb::isinstance<nb::str>(dtype) ? text_argument("a dtype", dtype) : as_usage([&] {
    return nb::cast<std::string>(nb::str(nb::module_::import_("numpy").attr("dtype")(dtype)));
  });
  const std::optional<DType> known = dtype_of_numpy_name(name);
  return known ? *known : parse_dtype(name);
}

GivenValue given_argument(nb::handle name, nb::handle value) {
  GivenValue given{text_argument("gives", name)};
  const bool is_sequence = nb::isinstance<nb::tuple>(value) || nb::isinstance<nb::list>(value);
  const std::size_t count = is_sequence ? nb::len(value) : 0;
  if (count < 2 || count > 4) {
    fail(ErrorKind::kUsage,
         "gives['{}'] is {}, but must be (dtype, shape), or for rows (dtype, shape of one row, most) or (dtype, shape "
         "of one row, most, fill)",
         given.name, describe(value));
  }
  given.dtype = dtype_argument(value[0]);
  const nb::object extents = value[1];
  if (!nb::isinstance<nb::iterable>(extents) || nb::isinstance<nb::str>(extents)) {
    fail(ErrorKind::kUsage, "gives['{}']: its shape is {}, but must be a list of extents", given.name,
         describe(extents));
  }
  for (const nb::handle extent : extents) {
    if (given.shape.rank() == Shape::kMaxRank - 2) {
      fail(ErrorKind::kUsage, "gives['{}']: at most {} extents are possible", given.name, Shape::kMaxRank - 2);
    }
    given.shape.append(integer_argument("an extent", extent, 1, std::int64_t{1} << 30));
  }
  if (count > 2) {
    given.is_ragged = true;
    given.shape = given.shape.with_outer(integer_argument("most", value[2], 1, std::int64_t{1} << 30));
  }
  if (count == 4) given.fill = number_argument("fill", value[3], "a number");
  return given;
}

// What a process of a function's runs, as a module of this one.
nb::object host_module() {
  const nb::object modules = nb::module_::import_("sys").attr("modules");
  constexpr const char* kName = "stoker._function_host";
  if (nb::object known = modules.attr("get")(kName); !known.is_none()) return known;
  nb::object made = nb::module_::import_("types").attr("ModuleType")(kName);
  const std::string_view source = python_host_source();
  const nb::object exec = nb::module_::import_("builtins").attr("exec"), names = made.attr("__dict__");
  call_python(exec, nb::str(source.data(), source.size()), names);
  modules[kName] = made;
  return made;
}

/// Calls a function in the thread that asks, with the interpreter's lock.
class ThreadFunction final : public SampleFunction {
 public:
  ThreadFunction(FunctionSpec spec, std::vector<ValueMeaning> meanings)
      : spec_(std::move(spec)), meanings_(std::move(meanings)), values_(meanings_.size()) {}
  ~ThreadFunction() override {
    const Locked locked;
    nb::object caller = std::move(caller_);
    if (!locked) caller.release();  // it ends with the interpreter
  }

  void begin() override {}

  MutableBytes take(std::size_t taken, DType dtype, const Shape& shape) override {
    const auto bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
    // An array of the last sample's may still be held.
    values_[taken] = {std::make_shared<std::vector<std::uint8_t>>(bytes), dtype, shape};
    return *values_[taken].bytes;
  }

  void call(const FunctionSeed& seed, const GivenPlaces& place) override {
    const Locked locked;
    if (!locked) fail(ErrorKind::kClosed, "the interpreter ends");
    const nb::object host = host_module();
    if (!caller_.is_valid()) load(host);
    nb::list arrays;
    for (const Value& value : values_) {
      arrays.append(numpy_view({value.bytes->data(), value.dtype, value.shape}, value.bytes));
    }
    const std::string hex = fmt::format("{:08x}{:08x}{:08x}{:08x}", seed[3], seed[2], seed[1], seed[0]);
    const nb::object number = nb::module_::import_("builtins").attr("int")(hex, 16);
    nb::object results;
    try {
      results = call_python(nb::module_::import_("stoker._generators").attr("call_here"), caller_, arrays, number);
    } catch (const nb::python_error& error) {
      if (!error.matches(host.attr("Mistake"))) throw;
      fail(ErrorKind::kBadSample, "function '{}' {}", spec_.name, shown_text(error.value()));
    }
    inside_ns_ += nb::cast<std::int64_t>(caller_.attr("inside_ns"));
    for (std::size_t i = 0; i < spec_.gives.size(); ++i)
      copy(results[i], spec_.gives[i], [&](const Shape& shape) { return place(i, shape); });
  }

  std::int64_t inside_ns() const override { return inside_ns_; }

 private:
  struct Value {
    std::shared_ptr<std::vector<std::uint8_t>> bytes;
    DType dtype = DType::kU8;
    Shape shape{};
  };

  void load(const nb::object& host) {
    try {
      const nb::object about = nb::module_::import_("json").attr("loads")(introduction_of(spec_, meanings_).dump());
      const nb::object make = host.attr("Caller");
      caller_ = call_python(make, about, nb::bytes(spec_.payload.data(), spec_.payload.size()));
    } catch (const nb::python_error& error) {
      pass_on_unless_mistake(error);
      fail(ErrorKind::kUsage, "function '{}' cannot be loaded: {}", spec_.name, shown_text(error.value()));
    }
  }

  template <typename Place>
  static void copy(const nb::object& result, const GivenValue& given, const Place& place) {
    Shape shape = given.shape;
    if (given.is_ragged) {
      shape = {static_cast<std::int64_t>(nb::len(result))};
      for (const std::int64_t extent : given.shape.extents().subspan(1)) shape.append(extent);
    }
    const MutableBytes out = place(shape);
    const nb::object bytes = result.attr("tobytes")();
    std::memcpy(out.data(), PyBytes_AS_STRING(bytes.ptr()), out.size());
  }

  const FunctionSpec spec_;
  const std::vector<ValueMeaning> meanings_;
  std::vector<Value> values_;
  nb::object caller_;
  std::int64_t inside_ns_ = 0;
};

}  // namespace

Recipe with_function(const Recipe& recipe, const nb::args& positional, const nb::kwargs& named) {
  const CallSignature signature{"Recipe.map",
                                {"function", "takes", "gives", "name", "values", "random", "timeout", "memory",
                                 "version", "arguments", "isolated", "batch"},
                                /*positional=*/3};
  const CallArguments given(signature, positional, named);
  FunctionSpec spec = function_argument(given["function"]);
  spec.takes = taken_argument(given["takes"]);
  if (!nb::isinstance<nb::dict>(given["gives"])) {
    fail(ErrorKind::kUsage, "gives is {}, but must be a dict of outputs and what they are", describe(given["gives"]));
  }
  for (const auto& [name, value] : nb::borrow<nb::dict>(given["gives"])) {
    spec.gives.push_back(given_argument(name, value));
  }
  if (const nb::handle name = given.unless_none("name")) spec.name = text_argument("name", name);
  if (given["values"]) spec.values = parse_value_form(text_argument("values", given["values"]));
  if (given["random"]) spec.random = parse_function_random(text_argument("random", given["random"]));
  if (given["timeout"]) spec.timeout_s = number_argument("timeout", given["timeout"], "a number of seconds");
  if (given["memory"]) spec.memory_max = size_argument("memory", given["memory"]);
  if (given["version"]) spec.version = text_argument("version", given["version"]);
  if (const nb::handle arguments = given.unless_none("arguments")) {
    spec.arguments = as_usage([&] {
      return nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(arguments, "sort_keys"_a = true));
    });
  }
  spec.is_isolated = given["isolated"] && flag_argument("isolated", given["isolated"]);
  spec.whole_batch = given["batch"] && flag_argument("batch", given["batch"]);
  Recipe longer = recipe;
  longer.map(std::move(spec));
  return longer;
}

void be_home_of_functions() {
  const nb::module_ sys = nb::module_::import_("sys");
  PythonHome home;
  if (const nb::object executable = sys.attr("executable"); !executable.is_none() && nb::len(executable) > 0) {
    home.executable = path_argument("sys.executable", executable);
  }
  for (const nb::handle place : sys.attr("path")) {
    if (nb::isinstance<nb::str>(place)) home.path.push_back(path_argument("sys.path", place));
  }
  set_python_home(std::move(home));
}

void bind_functions(nb::module_& /*module*/) {
  set_thread_functions(
      [](const FunctionSpec& spec, std::vector<ValueMeaning> meanings) -> std::unique_ptr<SampleFunction> {
        return std::make_unique<ThreadFunction>(spec, std::move(meanings));
      });
}

}  // namespace stoker::python
