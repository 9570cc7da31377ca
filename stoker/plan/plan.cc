#include "stoker/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <span>
#include <utility>
#include <variant>

#include "stoker/base/error.h"
#include "stoker/base/isa.h"
#include "stoker/base/random.h"
#include "stoker/ops/operator_table.h"

namespace stoker {
namespace {

constexpr int kChannels = ColorMap::kChannels;

bool is_geometry(const OperatorCall& call) {
  return std::holds_alternative<GeometryFunction>(member_spec(call).function);
}
bool is_picture(const OperatorCall& call) {
  return std::holds_alternative<PictureFunction>(member_spec(call).function);
}

// The operators on pictures amid those of geometry, which must be warps that follow each other.
std::span<const OperatorCall> early_warps(const View& view) {
  const auto all = std::span(view.operators);
  const auto first = std::find_if(all.begin(), all.end(), is_picture);
  const auto end = std::find_if_not(first, all.end(), is_picture);
  const bool early = end != all.end() && is_geometry(*end);
  return early && std::all_of(first, end, [](const auto& call) { return make_picture_operator(call)->only_warps(); })
             ? std::span(first, end)
             : std::span<const OperatorCall>();
}

void check_family_order(const View& view, std::span<const OperatorCall> early) {
  std::size_t reached = 0;
  const OperatorCall* before = nullptr;
  for (const OperatorCall& call : view.operators) {
    if (!early.empty() && &call >= early.data() && &call < early.data() + early.size()) continue;
    const OperatorSpec& spec = member_spec(call);
    if (spec.function.index() < reached) {
      fail(ErrorKind::kUsage,
           "view '{}': {} ({}) must come before {} ({}); the order is decode, geometry, picture, color, erase, format",
           view.name, call.name, family_name(spec), before->name, family_name(member_spec(*before)));
    }
    reached = spec.function.index();
    before = &call;
  }
}

void check_erase(const ViewPlan& plan) {
  try {
    plan.image.erase.check(plan.image.format.dtype);
  } catch (const Error& error) {
    throw error.with_context(fmt::format("view '{}'", plan.name));
  }
}

template <class Function>
bool begins_with(const View& view) {
  return !view.operators.empty() &&
         std::holds_alternative<Function>(find_operator(view.operators.front().name).function);
}

/// The label that a sample has as a number. A field of that name may hold a text.
bool shows_label(const View& view) { return view.field == "label" && !begins_with<TextFunction>(view); }

bool makes_image(const View& view) {
  return !shows_label(view) && !begins_with<NumberFunction>(view) && !begins_with<MaskFunction>(view) &&
         !begins_with<BoxFunction>(view) && !begins_with<TextFunction>(view) && !begins_with<TokenFunction>(view) &&
         !begins_with<ArrayFunction>(view);
}

// What follows a number: nothing, or the vector that it becomes.
void compile_label(const View& view, std::span<const OperatorCall> operators, ViewPlan& plan) {
  if (operators.empty()) return;
  const auto* const function = std::get_if<LabelFunction>(&find_operator(operators.front().name).function);
  if (!function || operators.size() > 1) {
    fail(ErrorKind::kUsage, "view '{}': labels and other numbers take no operator but one_hot", view.name);
  }
  if (plan.plain_type() != DType::kI64) {
    fail(ErrorKind::kUsage, "view '{}': one_hot takes whole numbers: leave out dtype='f32'", view.name);
  }
  (*function)(operators.front(), plan.one_hot);
}

}  // namespace

Plan::Plan(Recipe recipe) : recipe_(std::move(recipe)) {
  ensure_isa();  // a worker could not report its error
  check_functions();
  compile_views();
  join();
  compile_outputs_of_mixing();
  compile_functions();
}

void Plan::compile(const View& view) {
  likes_.push_back(view.like);
  draw_groups_.push_back(view.draw_group.empty() ? view.name : view.draw_group);
  ViewPlan plan;
  plan.name = view.name;
  if (shows_label(view)) {
    plan.kind = ViewKind::kLabel;
    compile_label(view, view.operators, plan);
    if (view.is_optional) make_optional(view, plan);
    views_.push_back(std::move(plan));
    return;
  }
  if (begins_with<NumberFunction>(view)) {
    compile_number(view, plan);
  } else if (begins_with<MaskFunction>(view)) {
    compile_mask(view, plan);
  } else if (begins_with<BoxFunction>(view)) {
    compile_objects(view, plan);
  } else if (begins_with<TextFunction>(view)) {
    compile_text(view, plan);
  } else if (begins_with<TokenFunction>(view)) {
    compile_tokens(view, plan);
  } else if (begins_with<ArrayFunction>(view)) {
    compile_array(view, plan);
  } else {
    compile_image(view, plan);
  }
  const bool reads_boxes = plan.kind == ViewKind::kBoxLabels || plan.kind == ViewKind::kKeypoints ||
                           (plan.kind == ViewKind::kInstances && plan.objects.instances == InstanceSource::kShapes);
  if (!reads_boxes) plan.field = field_number(view.field, view.is_optional);  // else it is that of the boxes
  if (plan.array.crop && !plan.array.crop->around.empty()) {
    plan.array.crop->around_field = field_number(plan.array.crop->around);
  }
  if (view.is_optional) make_optional(view, plan);
  views_.push_back(std::move(plan));
}

void Plan::make_optional(const View& view, ViewPlan& plan) {
  const bool is_possible =
      plan.kind == ViewKind::kBoxes || plan.kind == ViewKind::kText || plan.kind == ViewKind::kTokens;
  if (!is_possible) {
    fail(ErrorKind::kUsage,
         "view '{}' cannot be optional: that is for views that begin with decode_boxes, decode_text, decode_bytes or "
         "decode_tokens",
         view.name);
  }
  plan.objects.boxes.is_optional = plan.text.is_optional = true;
}

/// Of fields_, where each has one place. Samples may lack it if that is right for all views.
int Plan::field_number(const std::string& name, bool may_lack) {
  const auto field = std::find(fields_.begin(), fields_.end(), name);
  const auto number = static_cast<int>(field - fields_.begin());
  if (field == fields_.end()) {
    fields_.push_back(name);
    optional_fields_.push_back(name);
  }
  if (!may_lack) std::erase(optional_fields_, name);
  return number;
}

void Plan::compile_number(const View& view, ViewPlan& plan) {
  const OperatorCall& call = view.operators.front();
  const std::span<const OperatorCall> others = std::span(view.operators).subspan(1);
  FieldNumber number;
  std::get<NumberFunction>(find_operator(call.name).function)(call, number);
  if (auto* const json = std::get_if<JsonNumber>(&number)) {
    plan.kind = ViewKind::kNumber;
    plan.number = std::move(*json);
    return compile_label(view, others, plan);
  }
  plan.kind = ViewKind::kDigest;
  if (!others.empty()) fail(ErrorKind::kUsage, "view '{}': nothing can follow {}", view.name, call.name);
}

void Plan::compile_mask(const View& view, ViewPlan& plan) {
  plan.kind = ViewKind::kMask;
  if (view.operators.size() > 1) {
    fail(ErrorKind::kUsage, "view '{}': {} cannot follow decode_mask: the mask goes where its image goes", view.name,
         view.operators[1].name);
  }
  if (view.like.empty()) {
    fail(
        ErrorKind::kUsage,
        "view '{}': a mask belongs to an image: name the image's view, as in like = 'image' (in Python .like('image'))",
        view.name);
  }
  const OperatorCall& call = view.operators.front();
  try {
    std::get<MaskFunction>(find_operator(call.name).function)(call, plan.mask);
  } catch (const Error& error) {
    throw error.with_context(fmt::format("view '{}': {}", view.name, brief(call)));
  }
}

void Plan::compile_objects(const View& view, ViewPlan& plan) const {
  struct Kind {
    std::string_view op;
    ViewKind kind;
    std::string_view belongs, like;
  };
  constexpr std::array<Kind, 4> kKinds = {{
      {"decode_boxes", ViewKind::kBoxes, "boxes belong to an image", "image"},
      {"box_labels", ViewKind::kBoxLabels, "labels belong to boxes", "boxes"},
      {"decode_keypoints", ViewKind::kKeypoints, "keypoints belong to boxes", "boxes"},
      {"decode_instances", ViewKind::kInstances, "masks of objects belong to boxes", "boxes"},
  }};
  const OperatorCall& call = view.operators.front();
  const Kind& kind =
      *std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& each) { return each.op == call.name; });
  plan.kind = kind.kind;
  compile_rows(view, "objects go where their image goes", plan);
  if (view.like.empty()) {
    fail(ErrorKind::kUsage,
         "view '{}': {}: name the view that they belong to, as in like = '{}' (in Python .like('{}'))", view.name,
         kind.belongs, kind.like, kind.like);
  }
  try {
    std::get<BoxFunction>(find_operator(call.name).function)(call, plan.objects);
  } catch (const Error& error) {
    throw error.with_context(fmt::format("view '{}': {}", view.name, brief(call)));
  }
}

void Plan::compile_text(const View& view, ViewPlan& plan) const {
  plan.kind = ViewKind::kText;
  const OperatorCall& call = view.operators.front();
  compile_rows(view, "only pad_to can", plan);
  std::get<TextFunction>(find_operator(call.name).function)(call, plan.text);
}

void Plan::compile_tokens(const View& view, ViewPlan& plan) {
  plan.kind = ViewKind::kTokens;
  const OperatorCall& call = view.operators.front();
  if (view.operators.size() > 1) fail(ErrorKind::kUsage, "view '{}': nothing can follow {}", view.name, call.name);
  const std::string& group = view.draw_group.empty() ? view.field : view.draw_group;
  try {
    std::get<TokenFunction>(find_operator(call.name).function)(call, plan.tokens);
    if (!plan.tokens.type) plan.tokens.type = parse_token_type(view.field.substr(view.field.rfind('.') + 1));
  } catch (const Error& error) {
    throw error.with_context(fmt::format("view '{}': {}", view.name, brief(call)));
  }
  // All parts of a field are parts of one sequence.
  plan.tokens.stream = random_stream(group, call.name, 0);
}

void Plan::compile_array(const View& view, ViewPlan& plan) const {
  plan.kind = ViewKind::kArray;
  plan.array.field = view.field;
  const std::string& draw_group = view.draw_group.empty() ? view.name : view.draw_group;
  std::span<const OperatorCall> calls = view.operators;
  const bool pads = std::holds_alternative<RowsFunction>(find_operator(calls.back().name).function);
  if (pads) calls = calls.first(calls.size() - 1);
  std::map<std::string_view, int> occurrences;
  for (const OperatorCall& call : calls) {
    try {
      const auto* const function = std::get_if<ArrayFunction>(&find_operator(call.name).function);
      if (!function) fail(ErrorKind::kUsage, "it does not take arrays: array_crop, array_flip and the like do");
      const bool is_first = &call == &view.operators.front();
      if (is_first != (call.name == "decode_array")) fail(ErrorKind::kUsage, "decode_array comes first, and once");
      (*function)(call, plan.array, random_stream(draw_group, call.name, occurrences[call.name]++));
    } catch (const Error& error) {
      throw error.with_context(fmt::format("view '{}': {}", view.name, brief(call)));
    }
  }
  if (pads) pad(view, view.operators.back(), plan);
}

void Plan::compile_image(const View& view, ViewPlan& plan) {
  if (view.operators.empty() || view.operators.front().name != "decode") {
    fail(ErrorKind::kUsage,
         "view '{}' must begin with decode: a recipe is a chain such as decode().resize(256).center_crop(224)",
         view.name);
  }
  const std::span<const OperatorCall> early = early_warps(view);
  check_family_order(view, early);
  ColorChain color;
  FormatChoice format;
  std::map<std::string_view, int> occurrences;
  const std::string& draw_group = view.draw_group.empty() ? view.name : view.draw_group;
  std::array<StageSpec, kStages.size()> stages;
  for (std::size_t i = 0; i < stages.size(); ++i) stages[i].name = kStages[i].name;
  for (const OperatorCall& call : view.operators) {
    const OperatorSpec& spec = member_spec(call);
    const int occurrence = occurrences[call.name]++;
    struct Apply {
      const OperatorCall& call;
      ImageProgram& image;
      ColorChain& color;
      FormatChoice& format;
      std::uint64_t stream;
      bool early;
      void operator()(DecodeFunction function) const { function(call, image.decode); }
      void operator()(GeometryFunction) const {
        static_assert(traits_of(Stage::kGeometry).draws);
        image.geometry.append(make_geometry_operator(call), stream);
      }
      void operator()(PictureFunction) const {
        static_assert(traits_of(Stage::kColor).draws);
        if (early) return append_early();
        image.picture.append(make_picture_operator(call), stream);
      }
      void append_early() const {
        if (image.source_warp.empty()) {
          image.geometry.split();
          image.picture.add_bounds(SourceWarp::bounds());
        }
        image.source_warp.append(call, make_picture_operator(call), stream);
      }
      void operator()(ColorFunction function) const { function(call, color); }
      void operator()(EraseFunction function) const { image.erase.append(function(call), stream); }
      void operator()(FormatFunction function) const { function(call, format); }
      void operator()(BoxFunction) const { fail(ErrorKind::kUsage, "it must be the view's only operator"); }
      void operator()(TextFunction) const { fail(ErrorKind::kUsage, "it must be the view's only operator"); }
      void operator()(RowsFunction) const {
        fail(ErrorKind::kUsage, "it takes rows: boxes and what belongs to them, texts, arrays");
      }
      void operator()(TokenFunction) const { fail(ErrorKind::kUsage, "it must be the view's only operator"); }
      void operator()(ArrayFunction) const { fail(ErrorKind::kUsage, "it takes arrays, which decode_array makes"); }
      void operator()(MaskFunction) const { fail(ErrorKind::kUsage, "it must be the view's only operator"); }
      void operator()(NumberFunction) const { fail(ErrorKind::kUsage, "it must be the view's first operator"); }
      void operator()(LabelFunction) const { fail(ErrorKind::kUsage, "it takes labels and other whole numbers"); }
      void operator()(CombinationFunction) const {}  // never comes: the members of a combination have a family
      void operator()(ViewsFunction) const {}        // never comes: Recipe::add() puts views in its place
      void operator()(BatchFunction) const { fail(ErrorKind::kUsage, "it belongs to the batch"); }
    };
    const bool is_early = !early.empty() && &call >= early.data() && &call < early.data() + early.size();
    try {
      std::visit(Apply{call, plan.image, color, format, random_stream(draw_group, call.name, occurrence), is_early},
                 spec.function);
    } catch (const Error& error) {
      throw error.with_context(fmt::format("view '{}': {}", view.name, brief(call)));
    }
    const Stage stage = is_early ? Stage::kGeometry : stage_of(spec);
    stages[static_cast<std::size_t>(stage)].operators.push_back(brief(call));
  }
  plan.image.color = color.map();
  // The type depends on what is called, never on the values of its arguments.
  plan.image.format.dtype = format.dtype.value_or(color.computes ? DType::kF32 : DType::kU8);
  plan.image.format.layout = format.layout.value_or(Layout::kNchw);
  check_erase(plan);
  if (const auto size = output_size(plan)) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (kStages[i].output == ImageForm::kResized) {
        const ImageSize canvas = plan.image.source_warp.canvas(*size);
        stages[i].bytes_out = std::int64_t{canvas.width} * canvas.height * kChannels;
      } else if (kStages[i].output == ImageForm::kFinished) {
        stages[i].bytes_out =
            static_cast<std::int64_t>(output_of(plan, image_shape_of(plan, *size)).bytes_per_sample());
      }
    }
  }
  if (recipe_.function_taking(view.name)) return;  // the CPU's alone, whatever the transfer index
  const bool several = std::count_if(recipe_.views().begin(), recipe_.views().end(), [&](const View& each) {
                         return makes_image(each) && !recipe_.function_taking(each.name);
                       }) > 1;
  for (StageSpec& stage : stages) {
    if (several) stage.name = fmt::format("{}.{}", view.name, stage.name);
    stages_.push_back(std::move(stage));
  }
}

std::optional<ImageSize> Plan::output_size(const ViewPlan& view) {
  try {
    return view.image.geometry.output_size();
  } catch (const Error& error) {
    throw error.with_context(fmt::format("view '{}'", view.name));
  }
}

DType ViewPlan::plain_type() const {
  if (kind == ViewKind::kGiven) return given.dtype;
  if (kind == ViewKind::kMask) return mask.dtype;
  if (kind == ViewKind::kArray) return array.dtype;
  if (kind == ViewKind::kText) return DType::kU8;
  if (kind == ViewKind::kInstances) return DType::kU8;
  if (has_objects()) return kind == ViewKind::kBoxLabels ? DType::kI64 : DType::kF32;
  if (kind == ViewKind::kShare || one_hot.classes > 0) return DType::kF32;
  return kind == ViewKind::kNumber ? number.dtype : DType::kI64;
}

OutputSpec Plan::output_of(const ViewPlan& view, const Shape& shape) {
  if (view.kind == ViewKind::kImage) return {view.name, view.image.format.dtype, shape, view.image.format.layout};
  return {view.name, view.plain_type(), shape};
}

Shape Plan::objects_shape_of(const ViewPlan& view, std::int64_t count, ImageSize size) {
  constexpr std::int64_t kSides = 4, kNumbersOfPoint = 3;
  switch (view.kind) {
    case ViewKind::kBoxes: return {count, kSides};
    case ViewKind::kKeypoints: return {count, static_cast<std::int64_t>(view.objects.points.count), kNumbersOfPoint};
    case ViewKind::kInstances: return {count, size.height, size.width};
    default: return {count};
  }
}

Shape Plan::number_shape_of(const ViewPlan& view) {
  if (view.kind == ViewKind::kDigest) return {FieldDigest::kNumbers};
  if (view.kind == ViewKind::kTokens) return {view.tokens.length};
  if (view.kind == ViewKind::kArray) return view.array.output_shape();
  return view.one_hot.classes > 0 ? Shape{view.one_hot.classes} : Shape{};
}

Shape Plan::image_shape_of(const ViewPlan& view, ImageSize size) {
  if (size.width > kOutputSideMax || size.height > kOutputSideMax) {
    fail(ErrorKind::kLimit, "view '{}': its output of {} x {} pixels has a side above the limit of {}", view.name,
         size.width, size.height, kOutputSideMax);
  }
  const std::int64_t bytes =
      std::int64_t{size.width} * size.height * kChannels * static_cast<std::int64_t>(size_of(view.image.format.dtype));
  if (bytes > kOutputBytesMax) {
    fail(ErrorKind::kLimit, "view '{}': its output of {} x {} pixels takes {} bytes a sample, above the limit of {}",
         view.name, size.width, size.height, bytes, kOutputBytesMax);
  }
  return image_shape(view.image.format.layout, size.height, size.width, kChannels);
}

// Of a view whose outputs are images, or go along with one.
OutputSpec Plan::output_of_size(const ViewPlan& view, ImageSize size) {
  if (view.kind == ViewKind::kImage) return output_of(view, image_shape_of(view, size));
  if (view.kind == ViewKind::kMask) {
    OutputSpec mask = output_of(view, mask_shape_of(size));
    mask.padding = view.mask.fill;
    return mask;
  }
  OutputSpec output = in_rows(
      view, output_of(view, objects_shape_of(view, std::int64_t{view.rows_of} * view.objects.boxes.most, size)));
  const std::int64_t rows = output.row_padding ? output.row_padding->room : output.shape[0];
  if (output.shape.elements() / output.shape[0] * rows * static_cast<std::int64_t>(size_of(output.dtype)) >
      kOutputBytesMax) {
    fail(ErrorKind::kLimit,
         "view '{}': {} masks of {} x {} pixels take more than the limit of {} bytes a sample: use a smaller most of "
         "decode_boxes",
         view.name, rows, size.width, size.height, kOutputBytesMax);
  }
  return output;
}

OutputSpec Plan::output_of_view(const ViewPlan& view) const {
  if (view.kind == ViewKind::kGiven) {
    const OutputSpec given = output_of(view, view.given.shape);
    return view.given.is_ragged ? in_rows(view, given) : given;
  }
  if (view.kind == ViewKind::kText) return in_rows(view, output_of(view, {view.text.most}));
  if (view.is_plain()) {
    OutputSpec output = output_of(view, number_shape_of(view));
    if (view.kind == ViewKind::kTokens && view.tokens.part == TokenPart::kTargets) output.padding = kPaddingNumber;
    return view.kind == ViewKind::kArray && view.array.is_ragged() ? in_rows(view, output) : output;
  }
  const std::optional<ImageSize> size = output_size(view.goes_along() ? views_[view.like] : view);
  if (!size && (view.kind == ViewKind::kImage || view.has_size_of_image())) {
    fail(ErrorKind::kUsage,
         "view '{}': its size depends on the image, so samples cannot form a batch; add center_crop or "
         "resize=[height, width]",
         view.name);
  }
  return output_of_size(view, size.value_or(ImageSize()));
}

std::vector<OutputSpec> Plan::outputs() const {
  std::vector<OutputSpec> outputs;
  for (const ViewPlan& view : std::span(views_).first(output_count_)) outputs.push_back(output_of_view(view));
  return outputs;
}

std::vector<OutputSpec> Plan::outputs(const SampleDraw& sample) const {
  std::vector<OutputSpec> outputs = this->outputs();
  for (std::size_t i = 0; i < output_count_; ++i) {
    const ViewPlan& view = views_[i];
    const ViewPlan& sized = view.has_size_of_image() ? views_[view.like] : view;
    if (sized.kind != ViewKind::kImage || !sized.image.geometry.size_varies()) continue;
    outputs[i] = output_of_size(view, *sized.image.geometry.output_size(sample));
  }
  return outputs;
}

bool Plan::outputs_vary() const {
  return std::any_of(views_.begin(), views_.end(), [](const ViewPlan& view) {
    return view.kind == ViewKind::kImage && view.image.geometry.size_varies();
  });
}

ImageSize image_size_of(const OutputSpec& output) {
  const bool planes_first = output.layout == Layout::kNchw;
  const auto side = [&](std::size_t axis) { return static_cast<int>(output.shape[axis]); };
  return planes_first ? ImageSize{side(2), side(1)} : ImageSize{side(1), side(0)};
}

}  // namespace stoker
