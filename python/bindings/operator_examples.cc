#include "python/bindings/operator_examples.h"

#include <fmt/format.h>

#include <string_view>

#include "stoker/ops/argument_text.h"

namespace stoker::python {
namespace {

/// What is around an operator in a recipe that can run.
struct Surroundings {
  std::string_view of;  // an operator, or a family
  std::string_view before;
  std::string_view after{};
};

constexpr std::string_view kResized = "stoker.recipe().decode().resize([224, 224])";
constexpr Surroundings kSurroundings[] = {
    {"decode", "stoker.recipe()", ".center_crop(224)"},
    {"geometry", "stoker.recipe().decode()"},
    {"flip", kResized},
    {"random_flip", kResized},
    {"pad", kResized},
    {"iou_crop", "stoker.recipe().decode()", R"(.view("boxes", "json").like("image").decode_boxes("coco"))"},
    {"views", "stoker.recipe().decode().resize(256)"},
    {"mask", R"(stoker.recipe("imagenet-val").view("mask", "png").like("image"))"},
    {"decode_boxes", R"(stoker.recipe("imagenet-val").view("boxes", "json").like("image"))"},
    {"box_labels", R"(stoker.recipe("coco-val").view("classes").like("boxes"))"},
    {"decode_keypoints", R"(stoker.recipe("coco-val").view("keypoints", "json").like("boxes"))"},
    {"decode_instances", R"(stoker.recipe("coco-val").view("masks", "png").like("boxes"))"},
    {"text", R"(stoker.recipe("imagenet-val").view("caption", "json"))"},
    {"rows", R"(stoker.recipe("imagenet-val").view("caption", "txt").decode_text())"},
    {"tokens", R"(stoker.recipe().view("targets", "tokens.u16"))"},
    {"decode_array", R"(stoker.recipe().view("volume", "npy"))", ".array_crop([32, 96, 96])"},
    {"array", R"(stoker.recipe().view("volume", "npy").decode_array(shape=[1, 32, 96, 96]))"},
    {"number", R"(stoker.recipe("imagenet-val").view("category", "json"))"},
    {"label", R"(stoker.recipe("imagenet-val").view("label"))"},
    {"batch", R"(stoker.recipe("imagenet-train").view("label").one_hot(1000))"},
};
constexpr Surroundings kOfOthers{"", kResized};

const Surroundings& surroundings(const OperatorSpec& spec) {
  const Surroundings* of_family = &kOfOthers;
  for (const Surroundings& around : kSurroundings) {
    if (around.of == spec.name) return around;
    if (around.of == family_name(spec)) of_family = &around;
  }
  return *of_family;
}

/// Arguments as recipes have them, in Python: "operators = [{ op = 'posterize', bits = 3 }], p = 1" is
/// "operators=[stoker.op.posterize(bits=3)], p=1".
std::string python_arguments(std::string_view toml) {
  constexpr std::pair<std::string_view, std::string_view> kWritten[] = {
      {"{ op = '", "stoker.op."}, {"', ", "("}, {"' }", "()"}, {" }", ")"}, {" = ", "="}};
  std::string python;
  bool is_name = false;  // of an operator that is held
  while (!toml.empty()) {
    std::string_view from = toml.substr(0, 1), to = from;
    for (const auto& [written, meant] : kWritten) {
      const bool ends_name = written.starts_with('\'');
      if (toml.starts_with(written) && ends_name == is_name) {
        from = written;
        to = meant;
        is_name = written.starts_with('{');
        break;
      }
    }
    python += to;
    toml.remove_prefix(from.size());
  }
  return python;
}

/// The first example of the table.
std::string example_call(const OperatorSpec& spec) {
  return fmt::format("{}({})", spec.name, python_arguments(examples_of(spec).front()));
}

}  // namespace

std::string example_of_method(const OperatorSpec& spec) {
  const Surroundings& around = surroundings(spec);
  return fmt::format(">>> recipe = {}.{}{}", around.before, example_call(spec), around.after);
}

std::string example_of_function(const OperatorSpec& spec) {
  return fmt::format(">>> call = stoker.op.{}\n>>> call.name\n'{}'", example_call(spec), spec.name);
}

}  // namespace stoker::python
