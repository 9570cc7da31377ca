// The part of a plan that is about functions of the user's: which views they take, and which outputs are theirs.
#include <algorithm>
#include <iterator>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/random.h"
#include "stoker/base/spelling.h"
#include "stoker/function/sample_function.h"
#include "stoker/plan/plan.h"

namespace stoker {
namespace {

ValueKind value_kind(const ViewPlan& view) {
  switch (view.kind) {
    case ViewKind::kImage: return ValueKind::kImage;
    case ViewKind::kMask: return ValueKind::kMask;
    case ViewKind::kInstances: return ValueKind::kMasks;
    case ViewKind::kBoxes: return ValueKind::kBoxes;
    case ViewKind::kText: return view.text.is_text ? ValueKind::kText : ValueKind::kBytes;
    default: return ValueKind::kNumbers;
  }
}

// One of the values of decode_boxes' argument.
std::string_view form_of(const BoxOptions& boxes) {
  switch (boxes.form) {
    case BoxOptions::Form::kCornerAndSize: return "xywh";
    case BoxOptions::Form::kMiddleAndSize: return "cxcywh";
    default: return "xyxy";
  }
}

}  // namespace

void Plan::check_functions() const {
  std::vector<std::string> names;
  for (const View& view : recipe_.views()) names.push_back(view.name);
  for (const FunctionSpec& spec : recipe_.functions()) {
    for (const TakenValue& taken : spec.takes) {
      if (std::find(names.begin(), names.end(), taken.view) != names.end()) continue;
      fail(ErrorKind::kUsage, "function '{}' takes view '{}', which the recipe does not have{}", spec.name, taken.view,
           did_you_mean(taken.view, names));
    }
  }
}

// What a function gives under the name of a view that it takes has the place of that view.
void Plan::compile_views() {
  std::vector<const View*> taken;
  std::vector<const GivenValue*> placed;
  const auto given_in_place = [&](const View& view) -> const GivenValue* {
    const FunctionSpec* const taker = recipe_.function_taking(view.name);
    if (!taker) return nullptr;
    const auto given = std::find_if(taker->gives.begin(), taker->gives.end(),
                                    [&](const GivenValue& each) { return each.name == view.name; });
    return given == taker->gives.end() ? nullptr : &*given;
  };
  const auto add_given = [&](const GivenValue& given) {
    ViewPlan view;
    view.name = given.name;
    view.kind = ViewKind::kGiven;
    view.given = given;
    compile_given(view);
    views_.push_back(std::move(view));
    likes_.emplace_back();
    draw_groups_.emplace_back();
    placed.push_back(&given);
  };
  for (const View& view : recipe_.views()) {
    if (!recipe_.function_taking(view.name)) {
      compile(view);
      continue;
    }
    taken.push_back(&view);
    if (const GivenValue* const given = given_in_place(view)) add_given(*given);
  }
  for (const FunctionSpec& function : recipe_.functions()) {
    for (const GivenValue& given : function.gives) {
      if (std::find(placed.begin(), placed.end(), &given) == placed.end()) add_given(given);
    }
  }
  for (std::size_t i = 0; i < views_.size(); ++i) {
    for (std::size_t other = 0; other < i; ++other) {
      if (views_[other].name == views_[i].name) fail(ErrorKind::kUsage, "there are two outputs '{}'", views_[i].name);
    }
  }
  output_count_ = views_.size();
  for (const View* const view : taken) compile(*view);
}

// Mixing knows outputs only, and adds some.
void Plan::compile_outputs_of_mixing() {
  check_functions_of_mixing(recipe_.batch(), views_, recipe_);
  const auto border = views_.begin() + static_cast<std::ptrdiff_t>(output_count_);
  std::vector<ViewPlan> taken(std::make_move_iterator(border), std::make_move_iterator(views_.end()));
  views_.erase(border, views_.end());
  mixing_ = compile_mixing(recipe_.batch(), views_);
  const std::size_t added = views_.size() - output_count_;
  std::move(taken.begin(), taken.end(), std::back_inserter(views_));
  for (ViewPlan& view : views_) {
    if (view.like >= output_count_) view.like += added;
    if (view.boxes >= output_count_) view.boxes += added;
    if (view.looks_at && *view.looks_at >= output_count_) *view.looks_at += added;
    if (view.as_large_as && *view.as_large_as >= output_count_) *view.as_large_as += added;
  }
  output_count_ += added;
}

void Plan::compile_functions() {
  for (const FunctionSpec& spec : recipe_.functions()) {
    FunctionPlan function{.spec = spec, .takes = {}, .gives = {}, .meanings = {}};
    function.spec.library = placed_library(spec.library);  // workers open it later
    function.stream = random_stream("function", spec.name, 0);
    for (const TakenValue& taken : spec.takes) {
      const auto view = std::find_if(views_.begin() + static_cast<std::ptrdiff_t>(output_count_), views_.end(),
                                     [&](const ViewPlan& each) { return each.name == taken.view; });
      function.takes.push_back(static_cast<std::size_t>(view - views_.begin()));
      if (spec.whole_batch) kept_views_.push_back({function.takes.back(), kept_of(spec, *view)});
    }
    for (const std::size_t view : function.takes) function.meanings.push_back(meaning_of(function, views_[view]));
    for (const GivenValue& given : spec.gives) {
      const auto view = std::find_if(views_.begin(), views_.end(), [&](const ViewPlan& each) {
        return each.kind == ViewKind::kGiven && each.name == given.name;
      });
      function.gives.push_back(static_cast<std::size_t>(view - views_.begin()));
    }
    functions_.push_back(std::move(function));
  }
  std::sort(kept_views_.begin(), kept_views_.end(),
            [](const KeptView& one, const KeptView& other) { return one.view < other.view; });
}

ValueMeaning Plan::meaning_of(const FunctionPlan& function, const ViewPlan& view) const {
  ValueMeaning meaning;
  if (function.spec.whole_batch) return meaning;  // numbers alone
  meaning.kind = value_kind(view);
  if (view.kind == ViewKind::kImage) {
    meaning.layout = view.image.format.layout;
    if (function.spec.values == ValueForm::kPil && view.image.format.dtype != DType::kU8) {
      fail(ErrorKind::kUsage,
           "function '{}' takes view '{}' as a picture of Pillow, which has numbers of u8, but the view's are of {}: "
           "leave out normalize and the like, or use values 'numpy'",
           function.spec.name, view.name, to_string(view.image.format.dtype));
    }
  }
  if (view.kind == ViewKind::kBoxes) {
    meaning.box_form = form_of(view.objects.boxes);
    if (function.spec.values == ValueForm::kTorchvision) find_canvas(function, view, meaning);
  }
  return meaning;
}

void Plan::find_canvas(const FunctionPlan& function, const ViewPlan& boxes, ValueMeaning& meaning) const {
  const std::string& name = function.spec.name;
  if (boxes.objects.boxes.fractions) {
    fail(ErrorKind::kUsage,
         "function '{}' takes view '{}' as torchvision's BoundingBoxes, which count pixels, but the view's boxes are "
         "fractions: leave out fractions, or use values 'torch'",
         name, boxes.name);
  }
  const auto image = std::find(function.takes.begin(), function.takes.end(), boxes.like);
  if (image != function.takes.end()) {
    meaning.image = static_cast<std::size_t>(image - function.takes.begin());
    return;
  }
  const ViewPlan& like = views_[boxes.like];
  const std::optional<ImageSize> size = output_size(like);
  if (!size || like.image.geometry.size_varies()) {
    fail(ErrorKind::kUsage,
         "function '{}' takes view '{}' as torchvision's BoundingBoxes, which know the size of their image, but images "
         "of view '{}' differ in size: take that view too, or use values 'torch'",
         name, boxes.name, like.name);
  }
  meaning.canvas = Plan::mask_shape_of(*size);
}

OutputSpec Plan::kept_of(const FunctionSpec& function, const ViewPlan& view) const {
  OutputSpec kept = output_of_view(view);
  const ViewPlan& sized = view.has_size_of_image() ? views_[view.like] : view;
  const bool varies = sized.kind == ViewKind::kImage && sized.image.geometry.size_varies();
  if (varies || kept.arrangement != &dense_arrangement()) {
    fail(ErrorKind::kUsage, "function '{}' of whole batches takes view '{}', whose values differ in {}", function.name,
         view.name, varies ? "size" : "their number of rows");
  }
  return kept;
}

}  // namespace stoker
