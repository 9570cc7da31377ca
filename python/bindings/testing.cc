// What the tests compare with other libraries, or with the stubs, and users have no need of.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/interpreter_lock.h"
#include "python/bindings/module.h"
#include "python/bindings/operator_calls.h"
#include "stoker/base/isa.h"
#include "stoker/base/log.h"
#include "stoker/ops/argument_text.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/loader_option_table.h"
#include "stoker/runtime/metrics.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stoker::python {
namespace {

// Six numbers per draw: the source columns and rows that the first view shows (left, top, right, bottom), and whether
// it is mirrored (horizontally, vertically). Draw i is that of position i of epoch 0.
nb::object draw_boxes(const Recipe& recipe, int width, int height, std::int64_t count, std::uint64_t seed) {
  constexpr std::size_t kNumbers = 6;
  const Plan plan(recipe);
  auto numbers = std::make_unique<std::vector<std::int32_t>>();
  numbers->reserve(static_cast<std::size_t>(count) * kNumbers);
  for (std::int64_t i = 0; i < count; ++i) {
    const SampleDraw draw{seed, 0, static_cast<std::uint64_t>(i)};
    const SamplingMap map = plan.views().front().image.draw({width, height}, draw).map;
    numbers->insert(numbers->end(), {map.x.clamp_begin, map.y.clamp_begin, map.x.clamp_end, map.y.clamp_end,
                                     map.x.mirrored(), map.y.mirrored()});
  }
  std::int32_t* data = numbers->data();
  const nb::capsule owner(numbers.release(),
                          [](void* held) noexcept { delete static_cast<std::vector<std::int32_t>*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, std::int32_t>(data, {static_cast<std::size_t>(count), kNumbers}, owner));
}

// The kinds of steps that policies draw.
constexpr std::pair<const char*, PictureKind> kPolicyKinds[] = {
    {"brightness", PictureKind::kTorchvisionBrightness},
    {"contrast", PictureKind::kTorchvisionContrast},
    {"saturation", PictureKind::kTorchvisionSaturation},
    {"sharpness", PictureKind::kSharpness},
    {"invert", PictureKind::kInvert},
    {"posterize", PictureKind::kPosterize},
    {"solarize", PictureKind::kSolarize},
    {"solarize_add", PictureKind::kSolarizeAdd},
    {"equalize", PictureKind::kEqualize},
    {"autocontrast", PictureKind::kAutocontrast},
    {"warp", PictureKind::kWarp},
    {"blur_across", PictureKind::kBlurAcross},
    {"blur_down", PictureKind::kBlurDown},
    {"keep", PictureKind::kKeep},
    {"recall", PictureKind::kRecall},
    {"weighted_sum", PictureKind::kWeightedSum},
    {"towards", PictureKind::kTowards},
};

// Of each draw its steps on a picture of this size: (kind, f, n). Draw i is that of position i of epoch 0.
nb::list draw_steps(const Recipe& recipe, int width, int height, std::int64_t count, std::uint64_t seed) {
  const Plan plan(recipe);
  PictureSteps steps;
  nb::list draws;
  for (std::int64_t i = 0; i < count; ++i) {
    plan.views().front().image.picture.draw({width, height}, {seed, 0, static_cast<std::uint64_t>(i)}, steps);
    nb::list drawn;
    for (const PictureStep& step : std::as_const(steps).all()) {
      const auto named = std::find_if(std::begin(kPolicyKinds), std::end(kPolicyKinds),
                                      [&](const auto& entry) { return entry.second == step.kind; });
      nb::list f, n;
      for (const float value : step.f) f.append(value);
      for (const std::int32_t value : step.n) n.append(value);
      drawn.append(nb::make_tuple(named == std::end(kPolicyKinds) ? "another" : named->first, f, n));
    }
    draws.append(drawn);
  }
  return draws;
}

// Of each draw the boxes that it erases from the tensors of the first view: (x, y, width, height). Draw i is that of
// position i of epoch 0.
nb::list draw_erased(const Recipe& recipe, std::int64_t count, std::uint64_t seed) {
  const Plan plan(recipe);
  const ImageProgram& image = plan.views().front().image;
  EraseSteps steps;
  nb::list draws;
  for (std::int64_t i = 0; i < count; ++i) {
    image.erase.draw(*image.geometry.output_size(), {seed, 0, static_cast<std::uint64_t>(i)}, steps);
    nb::list drawn;
    for (const EraseStep& step : std::as_const(steps).all()) {
      drawn.append(nb::make_tuple(step.x, step.y, step.width, step.height));
    }
    draws.append(drawn);
  }
  return draws;
}

// What the first step across a batch draws for pairs: (what, own share, left, top, right, bottom); the box is that of
// "paste". Draw i is that of the i-th group, or batch, of epoch 0.
nb::list draw_mixes(const Recipe& recipe, std::int64_t count, std::uint64_t seed) {
  const Plan plan(recipe);
  const MixStep& step = plan.mixing().steps.front();
  const ImageSize size = image_size_of(plan.outputs()[step.images.front()]);
  nb::list draws;
  for (std::int64_t i = 0; i < count; ++i) {
    Random random(seed, 0, static_cast<std::uint64_t>(i), step.stream);
    const MixDraw mix = step.op->draw(random, size);
    const char* const what = mix.kind == MixDraw::Kind::kKeep    ? "keep"
                             : mix.kind == MixDraw::Kind::kBlend ? "blend"
                             : mix.kind == MixDraw::Kind::kPaste ? "paste"
                                                                 : "quarters";
    draws.append(nb::make_tuple(what, mix.weight[0], mix.left, mix.top, mix.right, mix.bottom));
  }
  return draws;
}

// By operator, its arguments in order: (name, required, default or None, what may be given).
nb::dict operators() {
  nb::dict table;
  for (const OperatorSpec& spec : operator_table()) {
    nb::list args;
    for (const ArgSpec& arg : spec.args) {
      const nb::object otherwise = arg.required ? nb::none() : to_python(default_value(arg));
      nb::dict permitted;
      permitted["choices"] = choices_of(arg);
      permitted["counts"] = counts_of(arg);
      permitted["limits"] = nb::make_tuple(arg.min, arg.max);
      permitted["is_text"] = arg.type == ArgType::kText;
      permitted["is_flag"] = arg.type == ArgType::kFlag;
      args.append(nb::make_tuple(std::string(arg.name), arg.required, otherwise, permitted));
    }
    table[nb::str(std::string(spec.name).c_str())] = args;
  }
  return table;
}

// All there are, in order: (name, kind, what it is).
nb::list known_metrics() {
  nb::list table;
  for (const MetricSpec& spec : metric_table()) {
    const char* const kind = spec.kind == MetricKind::kCounter ? "counter"
                             : spec.kind == MetricKind::kGauge ? "gauge"
                                                               : "knob";
    table.append(nb::make_tuple(std::string(spec.name), kind, std::string(spec.doc)));
  }
  return table;
}

// The table of a loader's options, in order: (name, command line, whether it is an integer, initial, doc, unset,
// least, most).
nb::list known_options() {
  nb::list table;
  for (const auto& [name, command_line, form, initial, set, doc, unset] : loader_option_table()) {
    table.append(nb::make_tuple(std::string(name), std::string(command_line), form.kind == OptionKind::kInteger,
                                std::string(initial), doc, unset, form.least, form.most));
  }
  return table;
}

void log_text(int level, const std::string& text) { log_message(static_cast<LogLevel>(level), text); }

nb::list isas() {
  nb::list names;
  for (const std::string& isa : available_isas()) names.append(isa);
  return names;
}

}  // namespace

void bind_testing(nb::module_& module) {
  nb::module_ testing = module.def_submodule("testing");
  testing.def("draw_boxes", &draw_boxes, "recipe"_a, "width"_a, "height"_a, "count"_a, "seed"_a);
  testing.def("draw_steps", &draw_steps, "recipe"_a, "width"_a, "height"_a, "count"_a, "seed"_a);
  testing.def("draw_erased", &draw_erased, "recipe"_a, "count"_a, "seed"_a);
  testing.def("draw_mixes", &draw_mixes, "recipe"_a, "count"_a, "seed"_a);
  testing.def("operators", &operators);
  testing.def("metrics", &known_metrics);
  testing.def("loader_options", &known_options);
  testing.def("log", &log_text, "level"_a, "text"_a, nb::call_guard<Unlocked>());
  testing.def("available_isas", &isas);
  testing.def(
      "select_isa", [](const std::string& name) { select_isa(name); }, "name"_a);
}

}  // namespace stoker::python
