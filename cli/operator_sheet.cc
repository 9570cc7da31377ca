#include "cli/operator_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/ops/argument_text.h"
#include "stoker/plan/plan.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader.h"

namespace stoker {
namespace {

// The square of the sample that is shown; examples of crops fit it.
constexpr std::string_view kSquare =
    R"({ op = "decode" }, { op = "resize", size = 160 }, { op = "center_crop", size = 160 })";
// Noise takes the place of what is erased only in a tensor that can hold it.
constexpr std::string_view kNormalized = R"(, { op = "normalize", preset = "imagenet" })";

// Operators of the batch mix samples in blocks of four at most.
constexpr int kMixedTogether = 4;

bool looks_at_boxes(const OperatorCall& call) {
  return std::holds_alternative<GeometryFunction>(find_operator(call.name).function) &&
         make_geometry_operator(call)->looks_at_boxes();
}

/// A recipe whose images show what the operator does with these arguments, or else nothing (null), to a square of the
/// sample. Those of the batch mix labels, too, which are below `classes`.
Recipe recipe_of_example(const OperatorSpec* spec, std::string_view arguments, std::int64_t classes) {
  std::string in_view(kSquare), in_batch, of_label;
  if (spec) {
    const std::string call = fmt::format("{{ op = \"{}\"{}{} }}", spec->name, arguments.empty() ? "" : ", ", arguments);
    if (is_of_batch(*spec)) {
      in_batch = call;
      of_label = fmt::format("{{ op = \"one_hot\", classes = {} }}", classes);
    } else {
      if (family_name(*spec) == "erase") in_view += kNormalized;
      in_view += ", " + call;
    }
  }
  Recipe recipe =
      Recipe::from_toml(fmt::format("batch = [{}]\n"
                                    "[[view]]\nname = \"image\"\noperators = [{}]\n"
                                    "[[view]]\nname = \"label\"\noperators = [{}]\n",
                                    in_batch, in_view, of_label));
  if (looks_at_boxes(recipe.views().front().operators.back())) {
    recipe.view("boxes", "json").like("image").decode_boxes("coco");
  }
  return recipe;
}

/// So many samples are drawn to show `count` of them.
int batch_of(int count) { return (count + kMixedTogether - 1) / kMixedTogether * kMixedTogether; }

/// One more than the largest label of those; labels below zero stand for none.
std::int64_t classes_of(const Dataset& dataset, int count) {
  const std::int64_t drawn = std::min<std::int64_t>(batch_of(count), dataset.size());
  std::int64_t classes = 1;
  for (std::int64_t sample = 0; sample < drawn; ++sample) classes = std::max(classes, dataset.label(sample) + 1);
  return classes;
}

/// The pictures that one recipe makes: by sample, one for each view.
std::vector<std::vector<RgbImage>> pictures_of(const Recipe& recipe, const std::shared_ptr<const Dataset>& dataset,
                                               int count, std::uint64_t seed) {
  const Plan plan(recipe);
  LoaderOptions options;
  options.batch = batch_of(count);
  options.tail = Tail::kWrap;
  options.seed = seed;
  options.threads = 1;
  options.tune = TuneMode::kOff;
  options.order = OrderKind::kNone;
  options.launched = false;
  options.epochs_end = 1;
  Loader loader(dataset, recipe, options);
  const BatchPtr batch = loader.next();
  std::vector<std::vector<RgbImage>> pictures(static_cast<std::size_t>(count));
  for (int slot = 0; slot < count; ++slot) {
    for (std::size_t output = 0; output < plan.views().size(); ++output) {
      const ViewPlan& view = plan.views()[output];
      if (view.kind != ViewKind::kImage) continue;
      const Bytes bytes = batch->slot_bytes(output, slot);
      pictures[static_cast<std::size_t>(slot)].push_back(
          displayed({batch->outputs()[output], {bytes.begin(), bytes.end()}}, view.image));
    }
  }
  return pictures;
}

/// "degrees = 10" for the column above its picture; of many views, their number, too.
std::string title(const std::string& arguments, std::size_t view, std::size_t views) {
  if (views == 1) return arguments;
  return fmt::format("{}{}: {}", arguments, arguments.empty() ? "" : ", view", view);
}

}  // namespace

RgbImage operator_sheet(const OperatorSpec& spec, const std::shared_ptr<const Dataset>& dataset, int count,
                        std::uint64_t seed) {
  if (!is_drawn(spec)) {
    fail(ErrorKind::kUsage, "there is no picture of '{}'; `stoker ops {}` says what it does", spec.name, spec.name);
  }
  if (dataset->size() < count) {
    fail(ErrorKind::kUsage, "the data set has {} samples, but --count asks for {}", dataset->size(), count);
  }
  const std::int64_t classes = classes_of(*dataset, count);
  std::vector<std::string> titles = {"original"};
  std::vector<std::vector<RgbImage>> rows = pictures_of(recipe_of_example(nullptr, "", classes), dataset, count, seed);
  for (const std::string& arguments : examples_of(spec)) {
    const auto more = pictures_of(recipe_of_example(&spec, arguments, classes), dataset, count, seed);
    for (std::size_t view = 0; view < more.front().size(); ++view) {
      titles.push_back(title(arguments, view, more.front().size()));
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
      rows[row].insert(rows[row].end(), more[row].begin(), more[row].end());
    }
  }
  ContactSheet sheet(count, std::string(spec.name), std::string(spec.doc), titles);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < rows[row].size(); ++column) {
      sheet.put(static_cast<int>(row), static_cast<int>(column), rows[row][column]);
    }
  }
  return sheet.image();
}

}  // namespace stoker
