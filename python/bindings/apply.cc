#include "python/bindings/apply.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/arguments.h"
#include "python/bindings/call_arguments.h"
#include "python/bindings/function.h"
#include "python/bindings/numpy_array.h"
#include "stoker/base/bytes.h"
#include "stoker/base/error.h"
#include "stoker/format/member_name.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/reference_executor.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

// The contents of something like bytes. What may change meanwhile is copied, for decoders look at bytes twice.
class HeldBytes {
 public:
  HeldBytes(std::string_view name, nb::handle value) {
    if (PyBytes_Check(value.ptr())) {
      owner_ = nb::borrow(value);
      bytes_ = as_bytes({PyBytes_AS_STRING(value.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(value.ptr()))});
    } else {
      copy_ = copied_bytes_argument(name, value);
      bytes_ = copy_;
    }
  }

  HeldBytes(HeldBytes&&) = default;  // of a vector, whose bytes stay where they are

  Bytes bytes() const { return bytes_; }

 private:
  nb::object owner_;
  std::vector<std::uint8_t> copy_;
  Bytes bytes_;
};

// The value that a sample's dict has for a field. Where none is called "image", that is what it is in a data set
// (Dataset::image_field).
nb::handle field_of(const nb::dict& sample, const std::string& name) {
  const nb::object key = to_python_text(name);
  if (sample.contains(key)) return sample[key];
  if (name == "image") {
    nb::handle found;
    for (const auto& [field, value] : sample) {
      if (!nb::isinstance<nb::str>(field)) continue;
      const std::string text = path_argument("field", field);
      if (!is_image_field_name(text)) continue;
      if (text.find('.') == std::string::npos) return value;
      if (!found) found = value;
    }
    if (found) return found;
    fail(ErrorKind::kNotFound, "data has no image: neither a field 'image' nor one that ends in {}", kImageExtensions);
  }
  fail(ErrorKind::kNotFound, "data has no field '{}', which the recipe reads", name);
}

// The fields that the plan reads, in its order.
std::vector<HeldBytes> fields_of(const Plan& plan, nb::handle data) {
  std::vector<HeldBytes> fields;
  if (nb::isinstance<nb::dict>(data)) {
    const nb::dict sample = nb::borrow<nb::dict>(data);
    for (const std::string& name : plan.fields()) fields.emplace_back(name, field_of(sample, name));
    return fields;
  }
  if (plan.fields().size() > 1) {
    fail(ErrorKind::kUsage, "the recipe reads the fields {}: give a dict of bytes", fmt::join(plan.fields(), ", "));
  }
  fields.emplace_back("data", data);
  return fields;
}

std::int64_t label_of(nb::handle given, nb::handle data) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (given) return integer_argument("label", given, -1, kMost);
  const nb::handle known = nb::isinstance<nb::dict>(data) ? PyDict_GetItemString(data.ptr(), "label") : nullptr;
  return known ? integer_argument("label", known, -1, kMost) : -1;
}

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
  const std::vector<HeldBytes> held = fields_of(plan, given["data"]);
  const std::int64_t label = label_of(given.unless_none("label"), given["data"]);
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
    const nb::gil_scoped_release unlocked;
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
