#include "python/bindings/apply.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/arguments.h"
#include "python/bindings/numpy_array.h"
#include "stoker/base/error.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/reference_executor.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

// The bytes of the fields that the plan reads, in its order.
std::vector<Bytes> fields_of(const Plan& plan, nb::handle data) {
  std::vector<Bytes> fields;
  if (!nb::isinstance<nb::dict>(data)) {
    if (plan.fields().size() > 1) {
      fail(ErrorKind::kUsage, "the recipe reads the fields {}: give a dict of bytes", fmt::join(plan.fields(), ", "));
    }
    fields.push_back(bytes_argument("data", data));
    return fields;
  }
  const nb::dict by_name = nb::borrow<nb::dict>(data);
  for (const std::string& name : plan.fields()) {
    const nb::object key = to_python_text(name);
    if (!by_name.contains(key)) fail(ErrorKind::kNotFound, "data lacks the field '{}' that the recipe reads", name);
    fields.push_back(bytes_argument(name, by_name[key]));
  }
  return fields;
}

std::unique_ptr<SampleExecutor> make_executor(const Plan& plan, bool reference) {
  if (reference) return std::make_unique<ReferenceExecutor>(plan);
  return std::make_unique<CpuExecutor>(plan);
}

nb::object array_of(SampleOutput output) {
  const auto bytes = std::make_shared<std::vector<std::uint8_t>>(std::move(output.bytes));
  return numpy_view({bytes->data(), output.spec.dtype, output.spec.shape}, bytes);
}

}  // namespace

nb::dict apply_recipe(const Recipe& recipe, nb::handle data, nb::handle seed, std::int64_t epoch, std::int64_t position,
                      std::int64_t label, bool reference) {
  const Plan plan(recipe);
  const std::vector<Bytes> fields = fields_of(plan, data);
  const SampleDraw draw{unsigned_argument("seed", seed), static_cast<std::uint64_t>(epoch),
                        static_cast<std::uint64_t>(position)};
  std::vector<SampleOutput> outputs;
  {
    const nb::gil_scoped_release unlocked;
    outputs = run_one(*make_executor(plan, reference), {fields, label, draw});
  }
  nb::dict arrays;
  for (SampleOutput& output : outputs) {
    const nb::object name = to_python_text(output.spec.name);
    arrays[name] = array_of(std::move(output));
  }
  return arrays;
}

}  // namespace stoker::python
