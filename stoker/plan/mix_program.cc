#include "stoker/plan/mix_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/random.h"
#include "stoker/base/spelling.h"
#include "stoker/ops/argument_text.h"
#include "stoker/ops/operator_table.h"
#include "stoker/plan/plan.h"

namespace stoker {
namespace {

MixMode mode_of(const OperatorCall& call) {
  const std::string& mode = call.text("mode");
  return mode == "batch" ? MixMode::kPerBatch : mode == "elem" ? MixMode::kPerSample : MixMode::kPerGroup;
}

bool asks_for_pairs(const OperatorCall& call) {
  return std::any_of(call.args.begin(), call.args.end(), [](const auto& arg) { return arg.first == "labels"; }) &&
         call.text("labels") == "pair";
}

bool is_image_to_mix(const OperatorCall& call, const ViewPlan& view) {
  if (view.kind != ViewKind::kImage) return false;
  const std::vector<std::string> wanted = names_in(call.text("views"));
  return call.text("views") == "all" || std::find(wanted.begin(), wanted.end(), view.name) != wanted.end();
}

// "image, depth"
std::vector<std::size_t> images_of(const OperatorCall& call, const std::vector<ViewPlan>& views) {
  std::vector<std::size_t> images;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (views[i].kind != ViewKind::kImage) continue;
    images.push_back(i);
    known.push_back(views[i].name);
  }
  if (images.empty()) fail(ErrorKind::kUsage, "no view of the recipe makes an image, and it mixes images");
  if (call.text("views") == "all") return images;
  const std::vector<std::string> wanted = names_in(call.text("views"));
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      fail(ErrorKind::kUsage, "no view '{}' makes an image{}; those that do are {}", name, did_you_mean(name, known),
           fmt::join(known, ", "));
    }
  }
  const auto left_out = [&](std::size_t view) { return !is_image_to_mix(call, views[view]); };
  images.erase(std::remove_if(images.begin(), images.end(), left_out), images.end());
  if (images.empty()) fail(ErrorKind::kUsage, "views names no image");
  return images;
}

ImageSize size_of_images(const ViewPlan& view) {
  const std::optional<ImageSize> size = Plan::output_size(view);
  if (size) return *size;
  fail(ErrorKind::kUsage,
       "the size of view '{}' depends on the image, and only images of one size can be mixed; add center_crop or "
       "resize=[height, width]",
       view.name);
}

// What goes along with the images: boxes, if they can be cut, and their labels; nothing else.
void find_boxes(std::vector<ViewPlan>& views, MixStep& step) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    ViewPlan& view = views[i];
    if (!view.goes_along()) continue;
    if (std::find(step.images.begin(), step.images.end(), view.like) == step.images.end()) continue;
    const bool has_rows = view.kind == ViewKind::kBoxes || view.kind == ViewKind::kBoxLabels;
    if (!has_rows || !step.op->shows_rectangles()) {
      fail(ErrorKind::kUsage, "view '{}' goes along with view '{}': {}", view.name, views[view.like].name,
           has_rows ? "only mosaic mixes boxes" : "masks, keypoints and masks of objects cannot be mixed");
    }
    if (view.row_padding && !view.row_padding->cuts) {
      fail(ErrorKind::kUsage,
           "view '{}': mixing may give more boxes than the count of pad_to; give pad_to longer='cut'", view.name);
    }
    view.rows_of *= step.group;
    const auto of_these = std::find_if(step.boxes.begin(), step.boxes.end(),
                                       [&](const MixedBoxes& each) { return each.boxes == view.boxes; });
    MixedBoxes& mixed = of_these == step.boxes.end() ? step.boxes.emplace_back(MixedBoxes{view.boxes}) : *of_these;
    if (view.kind == ViewKind::kBoxLabels) mixed.labels.push_back(i);
  }
}

MixStep step_of(const OperatorCall& call, std::uint64_t stream, int distance, std::vector<ViewPlan>& views) {
  MixStep step{.op = std::get<BatchFunction>(find_operator(call.name).function)(call),
               .stream = stream,
               .mode = mode_of(call),
               .distance = distance,
               .images = images_of(call, views)};
  step.group = step.op->group();
  find_boxes(views, step);
  for (const std::size_t view : step.images) size_of_images(views[view]);
  return step;
}

bool is_label(const ViewPlan& view) {
  return view.kind == ViewKind::kLabel || (view.kind == ViewKind::kNumber && view.name == "label");
}

// Labels in float32 are mixed as they are.
void find_labels(const std::vector<ViewPlan>& views, MixProgram& program, std::vector<std::size_t>& whole) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    const bool soft = views[i].one_hot.classes > 0 || (is_label(views[i]) && views[i].plain_type() == DType::kF32);
    if (soft) {
      program.soft.push_back(i);
    } else if (is_label(views[i])) {
      whole.push_back(i);
    }
  }
}

// What a view has to do with mixing; nothing: "".
std::string part_in_mixing(const OperatorCall& call, const ViewPlan& view, const std::vector<ViewPlan>& views) {
  if (is_label(view) || view.one_hot.classes > 0 || view.name == "label") return "a label";
  if (is_image_to_mix(call, view)) return "an image that it mixes";
  if (!view.goes_along() || !is_image_to_mix(call, views[view.like])) return "";
  return fmt::format("which goes along with view '{}'", views[view.like].name);
}

void check_function_of_mixing(const OperatorCall& call, const FunctionSpec& function,
                              const std::vector<ViewPlan>& views) {
  const auto refuse = [&](std::string_view verb, const std::string& view, std::string_view part, bool is_image) {
    fail(ErrorKind::kUsage,
         "function '{}' {} '{}', {}: what functions take and give is not mixed. Leave out {}, and mix in the training "
         "loop or in a function of whole batches{}",
         function.name, verb, view, part, call.name, is_image ? "; or name the images to mix in views" : "");
  };
  for (const TakenValue& taken : function.takes) {
    // What is given under the view's name is another one, before it.
    const auto view = std::find_if(views.begin(), views.end(), [&](const ViewPlan& each) {
      return each.kind != ViewKind::kGiven && each.name == taken.view;
    });
    const std::string part = part_in_mixing(call, *view, views);
    if (!part.empty()) refuse("takes view", taken.view, part, view->kind == ViewKind::kImage);
  }
  for (const GivenValue& given : function.gives) {
    if (given.name == "label") refuse("gives", given.name, "a label", false);
  }
}

std::size_t add_view(ViewPlan view, std::vector<ViewPlan>& views) {
  for (const ViewPlan& other : views) {
    if (other.name != view.name) continue;
    fail(ErrorKind::kUsage, "labels='pair' adds an output '{}', but a view has that name", view.name);
  }
  views.push_back(std::move(view));
  return views.size() - 1;
}

void add_pairs(const std::vector<std::size_t>& whole, std::vector<ViewPlan>& views, MixProgram& program) {
  if (whole.empty()) fail(ErrorKind::kUsage, "labels='pair' needs a label that is a whole number, without one_hot");
  for (const std::size_t own : whole) {
    ViewPlan partner;
    partner.name = views[own].name + "_b";
    partner.kind = views[own].kind;
    partner.field = views[own].field;
    partner.number = views[own].number;
    program.pairs.push_back({own, add_view(std::move(partner), views)});
  }
  ViewPlan share;
  share.name = "lambda";
  share.kind = ViewKind::kShare;
  program.share = add_view(std::move(share), views);
}

}  // namespace

MixProgram compile_mixing(const std::vector<OperatorCall>& calls, std::vector<ViewPlan>& views) {
  MixProgram program;
  if (calls.empty()) return program;
  std::vector<std::size_t> whole;
  find_labels(views, program, whole);
  std::map<std::string_view, int> occurrences;
  for (const OperatorCall& call : calls) {
    try {
      const int occurrence = occurrences[call.name]++;
      // Each operator's partners lie beyond those of the operators before it: every sample of a block meets others.
      program.steps.push_back(step_of(call, random_stream("batch", call.name, occurrence), program.block(), views));
      if (asks_for_pairs(call)) {
        if (calls.size() > 1) {
          fail(ErrorKind::kUsage, "labels='pair' is for a single operator: with several, a label has more partners");
        }
        add_pairs(whole, views, program);
      } else if (!whole.empty() && program.soft.empty() && program.steps.back().boxes.empty()) {
        fail(ErrorKind::kUsage, "it mixes labels, and those of view '{}' are whole numbers: give the view one_hot{}",
             views[whole[0]].name, call.name == "mosaic" ? "" : ", or write labels='pair'");
      }
    } catch (const Error& error) {
      throw error.with_context(brief(call));
    }
  }
  return program;
}

void check_functions_of_mixing(const std::vector<OperatorCall>& calls, const std::vector<ViewPlan>& views,
                               const Recipe& recipe) {
  for (const OperatorCall& call : calls) {
    try {
      for (const FunctionSpec& function : recipe.functions()) check_function_of_mixing(call, function, views);
    } catch (const Error& error) {
      throw error.with_context(brief(call));
    }
  }
}

}  // namespace stoker
