#include "python/bindings/apply.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/arguments.h"
#include "python/bindings/call_arguments.h"
#include "python/bindings/function.h"
#include "python/bindings/interpreter_lock.h"
#include "python/bindings/numpy_array.h"
#include "python/bindings/sample_argument.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/reference_executor.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

std::uint64_t count_argument(std::string_view name, nb::handle value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return value ? static_cast<std::uint64_t>(integer_argument(name, value, 0, kMost)) : 0;
}

DecodeLimits limits_of(nb::handle pixels_max) {
  if (!pixels_max) return {};
  return DecodeLimits::up_to(integer_argument("pixels_max", pixels_max, 1, std::numeric_limits<std::int64_t>::max()));
}

std::unique_ptr<SampleExecutor> make_executor(const Plan& plan, bool reference, const DecodeLimits& limits) {
  if (reference) return std::make_unique<ReferenceExecutor>(plan, limits);
  return std::make_unique<CpuExecutor>(plan, limits);
}

nb::object array_of(SampleOutput output) {
  const auto bytes = std::make_shared<std::vector<std::uint8_t>>(std::move(output.bytes));
  return numpy_view({bytes->data(), output.spec.dtype, output.spec.shape}, bytes);
}

}  // namespace

nb::dict apply_recipe(const Recipe& recipe, const nb::args& positional, const nb::kwargs& named) {
  const CallSignature signature{"Recipe.apply",
                                {"data", "seed", "epoch", "position", "label", "reference", "pixels_max", "batch"},
                                /*positional=*/1};
  const CallArguments given(signature, positional, named);
  if (!recipe.functions().empty()) be_home_of_functions();  // for isolated ones
  const Plan plan(Recipe(recipe).set_function_home(FunctionHome::kThread));
  const std::vector<HeldBytes> held = sample_fields(plan.fields(), plan.optional_fields(), given["data"]);
  const std::int64_t label = sample_label(given.unless_none("label"), given["data"]);
  const bool reference = given["reference"] && flag_argument("reference", given["reference"]);
  const DecodeLimits limits = limits_of(given.unless_none("pixels_max"));
  const SampleDraw draw{given["seed"] ? unsigned_argument("seed", given["seed"]) : 0,
                        count_argument("epoch", given["epoch"]), count_argument("position", given["position"]),
                        count_argument("batch", given["batch"])};
  std::vector<Bytes> fields;
  fields.reserve(held.size());
  for (const HeldBytes& field : held) fields.push_back(field.bytes());
  std::vector<SampleOutput> outputs;
  {
    const Unlocked unlocked;
    outputs = run_one(*make_executor(plan, reference, limits), {.fields = fields, .label = label, .draw = draw});
  }
  nb::dict arrays;
  for (SampleOutput& output : outputs) {
    const nb::object name = to_python_text(output.spec.name);
    arrays[name] = array_of(std::move(output));
  }
  return arrays;
}

}  // namespace stoker::python
