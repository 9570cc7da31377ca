#include "stoker/plan/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"
#include "stoker/ops/operator_table.h"
#include "stoker/order/epoch_order.h"
#include "stoker/plan/output_names.h"

namespace stoker {
namespace {

constexpr std::string_view kImageField = "image";  // what is meant where no field is named
constexpr std::string_view kLabelField = "label";

std::string owned(std::string_view text) { return std::string(text); }

void check_view_name(std::string_view name) {
  if (!is_identifier(name)) {
    fail(ErrorKind::kUsage,
         "a view cannot be named '{}': use a letter, then letters, digits and underscores; if this is the name of the "
         "data that it reads, give it as the view's field",
         name);
  }
  check_not_reserved("a view", name);
}

void check_unique(const std::vector<View>& views, std::size_t number) {
  const std::string& name = views[number].name;
  if (std::count_if(views.begin(), views.end(), [&](const View& view) { return view.name == name; }) > 1) {
    fail(ErrorKind::kUsage, "there are two views '{}'", name);
  }
}

}  // namespace

std::string copy_name(std::string_view name, std::size_t number) { return fmt::format("{}_{}", name, number); }

Recipe::Recipe() : views_{{"image", "image", {}}, {"label", "label", {}}} {}

Recipe& Recipe::add(OperatorCall call) {
  const OperatorCall checked = check_call(call);
  const OperatorSpec& spec = find_operator(checked.name);
  if (const auto* const several = std::get_if<ViewsFunction>(&spec.function)) {
    split((*several)(checked));
  } else if (is_of_batch(spec)) {
    batch_.push_back(checked);
  } else {
    drop_unused_image();
    for (const std::size_t number : current_) views_[number].operators.push_back(checked);
  }
  return *this;
}

// A recipe whose first operators describe something else than the image or the label may have no image at all.
void Recipe::drop_unused_image() {
  const bool is_unused = has_default_image_ && views_.front().operators.empty();
  const std::string& first = views_[current_.front()].name;
  if (!is_unused || first == kImageField || first == kLabelField) return;
  views_.erase(views_.begin());
  for (std::size_t& number : current_) --number;
  has_default_image_ = false;
  image_was_dropped_ = true;
}

// Puts several views in the place of each current one.
void Recipe::split(const std::vector<OperatorCalls>& parts) {
  std::vector<View> views;
  std::vector<std::size_t> made;
  for (std::size_t number = 0; number < views_.size(); ++number) {
    const View& whole = views_[number];
    if (std::find(current_.begin(), current_.end(), number) == current_.end()) {
      views.push_back(whole);
      continue;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      View part = whole;
      part.name = copy_name(whole.name, i);
      if (part.draw_group.empty()) part.draw_group = whole.name;
      for (const OperatorCall& call : parts[i]) part.operators.push_back(check_call(call));
      made.push_back(views.size());
      views.push_back(std::move(part));
    }
  }
  for (const std::size_t number : made) check_unique(views, number);
  views_ = std::move(views);
  current_ = std::move(made);
  are_copies_ = false;
}

// Of the view of this name, which is added if it does not exist.
std::size_t Recipe::place_of(std::string_view name, std::string_view field) {
  const auto found = std::find_if(views_.begin(), views_.end(), [&](const View& v) { return v.name == name; });
  const auto number = static_cast<std::size_t>(found - views_.begin());
  if (found == views_.end() && name == kImageField && std::exchange(image_was_dropped_, false)) {
    views_.insert(views_.begin(), {owned(name), owned(field), {}});
    return 0;
  }
  if (found == views_.end()) {
    check_view_name(name);
    views_.push_back({owned(name), owned(field), {}});
  } else if (field != kImageField && field != found->field) {
    if (!found->operators.empty()) {
      fail(ErrorKind::kUsage, "view '{}' already has the field '{}'", name, found->field);
    }
    found->field = owned(field);
  }
  return number;
}

Recipe& Recipe::view(std::string_view name, std::string_view field, std::optional<int> copies) {
  if (!copies) {
    current_ = {place_of(name, field)};
    are_copies_ = false;
    if (name == kImageField) has_default_image_ = false;
    return *this;
  }
  if (*copies < 1 || *copies > kCopiesMax) {
    fail(ErrorKind::kUsage, "view '{}' cannot have {} copies: at least 1, and at most {}", name, *copies, kCopiesMax);
  }
  check_view_name(name);
  if (has_default_image_ && views_.front().operators.empty()) views_.erase(views_.begin());
  has_default_image_ = false;
  current_.clear();
  for (int i = 0; i < *copies; ++i) current_.push_back(place_of(copy_name(name, static_cast<std::size_t>(i)), field));
  are_copies_ = true;
  return *this;
}

Recipe& Recipe::draw_group(std::string_view group) {
  for (std::size_t i = 0; i < current_.size(); ++i) {
    View& view = views_[current_[i]];
    const std::string own = are_copies_ ? copy_name(group, i) : owned(group);
    view.draw_group = own == view.name ? std::string() : own;
  }
  return *this;
}

Recipe& Recipe::like(std::string_view name) {
  for (std::size_t i = 0; i < current_.size(); ++i) {
    views_[current_[i]].like = are_copies_ ? copy_name(name, i) : owned(name);
  }
  return *this;
}

Recipe& Recipe::optional() {
  for (const std::size_t number : current_) views_[number].is_optional = true;
  return *this;
}

Recipe& Recipe::set_tail(std::string_view tail) {
  tail_ = to_string(parse_tail(tail));
  return *this;
}

Recipe& Recipe::set_batch_repeats(std::int64_t repeats) {
  if (repeats < 1) fail(ErrorKind::kUsage, "batch_repeats must be at least 1, not {}", repeats);
  batch_repeats_ = repeats;
  return *this;
}

Recipe& Recipe::set_decode_mode(std::string_view mode) {
  const OperatorCall wanted = check_call({"decode", {{"mode", owned(mode)}}});  // also where nothing decodes
  for (View& view : views_) {
    for (OperatorCall& call : view.operators) {
      if (call.name != wanted.name) continue;
      for (auto& [arg, value] : call.args) {
        if (arg == "mode") value = owned(mode);
        if (arg == "scale" && mode != "planar") value = owned("full");  // planes alone are decoded smaller
      }
    }
  }
  return *this;
}

Recipe& Recipe::decode(std::string_view mode, std::string_view orientation, std::string_view scale) {
  return add({"decode", {{"mode", owned(mode)}, {"orientation", owned(orientation)}, {"scale", owned(scale)}}});
}

Recipe& Recipe::resize(int short_side, std::string_view filter) {
  return add({"resize", {{"size", double(short_side)}, {"filter", owned(filter)}}});
}

Recipe& Recipe::resize(int height, int width, std::string_view filter) {
  return add({"resize", {{"size", std::vector<double>{double(height), double(width)}}, {"filter", owned(filter)}}});
}

Recipe& Recipe::crop(int x, int y, int width, int height) {
  return add({"crop", {{"x", double(x)}, {"y", double(y)}, {"width", double(width)}, {"height", double(height)}}});
}

Recipe& Recipe::center_crop(int size, double fill) {
  return add({"center_crop", {{"size", double(size)}, {"fill", fill}}});
}

Recipe& Recipe::corner_crop(int size, std::string_view corner) {
  return add({"corner_crop", {{"size", double(size)}, {"corner", owned(corner)}}});
}

Recipe& Recipe::random_crop(int size, int padding, double fill, bool pad_if_needed) {
  return add(
      {"random_crop",
       {{"size", double(size)}, {"padding", double(padding)}, {"fill", fill}, {"pad_if_needed", pad_if_needed}}});
}

Recipe& Recipe::random_resized_crop(int size, std::vector<double> scale, std::vector<double> ratio,
                                    std::string_view filter) {
  return add(
      {"random_resized_crop",
       {{"size", double(size)}, {"scale", std::move(scale)}, {"ratio", std::move(ratio)}, {"filter", owned(filter)}}});
}

Recipe& Recipe::flip(std::string_view axis) { return add({"flip", {{"axis", owned(axis)}}}); }

Recipe& Recipe::random_flip(double p, std::string_view axis) {
  return add({"random_flip", {{"p", p}, {"axis", owned(axis)}}});
}

Recipe& Recipe::pad(std::vector<double> padding, std::vector<double> fill) {
  return add({"pad", {{"padding", std::move(padding)}, {"fill", std::move(fill)}}});
}

Recipe& Recipe::zoom_out(int size, std::vector<double> side_range, double p, std::string_view filter,
                         std::vector<double> fill) {
  return add({"zoom_out",
              {{"size", double(size)},
               {"side_range", std::move(side_range)},
               {"p", p},
               {"filter", owned(filter)},
               {"fill", std::move(fill)}}});
}

Recipe& Recipe::scale_jitter(int size, std::vector<double> scale, std::string_view filter, std::vector<double> fill,
                             std::string_view fit) {
  return add({"scale_jitter",
              {{"size", double(size)},
               {"scale", std::move(scale)},
               {"filter", owned(filter)},
               {"fill", std::move(fill)},
               {"fit", owned(fit)}}});
}

Recipe& Recipe::letterbox(int size, std::string_view place, bool enlarge, std::string_view filter,
                          std::vector<double> fill) {
  return add({"letterbox",
              {{"size", double(size)},
               {"place", owned(place)},
               {"enlarge", enlarge},
               {"filter", owned(filter)},
               {"fill", std::move(fill)}}});
}

Recipe& Recipe::iou_crop(int size, double min_scale, double max_scale, double min_aspect_ratio, double max_aspect_ratio,
                         std::vector<double> sampler_options, int trials, std::vector<double> side_range, double zoom_p,
                         std::string_view filter, std::vector<double> fill) {
  return add({"iou_crop",
              {{"size", double(size)},
               {"min_scale", min_scale},
               {"max_scale", max_scale},
               {"min_aspect_ratio", min_aspect_ratio},
               {"max_aspect_ratio", max_aspect_ratio},
               {"sampler_options", std::move(sampler_options)},
               {"trials", double(trials)},
               {"side_range", std::move(side_range)},
               {"zoom_p", zoom_p},
               {"filter", owned(filter)},
               {"fill", std::move(fill)}}});
}

Recipe& Recipe::normalize(std::string_view preset) { return add({"normalize", {{"preset", owned(preset)}}}); }

Recipe& Recipe::normalize(std::vector<double> mean, std::vector<double> std, double scale) {
  return add({"normalize", {{"mean", std::move(mean)}, {"std", std::move(std)}, {"scale", scale}}});
}

Recipe& Recipe::channel_order(std::string_view order) { return add({"channel_order", {{"order", owned(order)}}}); }

Recipe& Recipe::random_erasing(double p, std::vector<double> scale, std::vector<double> ratio,
                               std::vector<double> value, std::string_view mode, int min_count, int max_count) {
  return add({"random_erasing",
              {{"p", p},
               {"scale", std::move(scale)},
               {"ratio", std::move(ratio)},
               {"value", std::move(value)},
               {"mode", owned(mode)},
               {"min_count", double(min_count)},
               {"max_count", double(max_count)}}});
}

Recipe& Recipe::cutout(int size, int count, std::vector<double> value) {
  return add({"cutout", {{"size", double(size)}, {"count", double(count)}, {"value", std::move(value)}}});
}

Recipe& Recipe::grid_mask(std::vector<double> d, double ratio, double rotate, double p, std::vector<double> value) {
  return add({"grid_mask",
              {{"d", std::move(d)}, {"ratio", ratio}, {"rotate", rotate}, {"p", p}, {"value", std::move(value)}}});
}

Recipe& Recipe::cast(std::string_view dtype) { return add({"cast", {{"dtype", owned(dtype)}}}); }

Recipe& Recipe::layout(std::string_view layout) { return add({"layout", {{"layout", owned(layout)}}}); }

Recipe& Recipe::five_crop(int size) { return add({"five_crop", {{"size", double(size)}}}); }

Recipe& Recipe::ten_crop(int size, std::string_view axis) {
  return add({"ten_crop", {{"size", double(size)}, {"axis", owned(axis)}}});
}

Recipe& Recipe::decode_mask(std::string_view codes, std::string_view classes, int fill, std::string_view dtype) {
  return add({"decode_mask",
              {{"codes", owned(codes)}, {"classes", owned(classes)}, {"fill", double(fill)}, {"dtype", owned(dtype)}}});
}

Recipe& Recipe::decode_boxes(std::string_view source, std::string_view form, bool fractions, double min_size,
                             double min_visible, std::string_view crowds, int most, std::string_view names,
                             bool middle_seen) {
  return add({"decode_boxes",
              {{"source", owned(source)},
               {"form", owned(form)},
               {"fractions", fractions},
               {"min_size", min_size},
               {"min_visible", min_visible},
               {"crowds", owned(crowds)},
               {"most", double(most)},
               {"names", owned(names)},
               {"middle_seen", middle_seen}}});
}

Recipe& Recipe::box_labels() { return add({"box_labels", {}}); }

Recipe& Recipe::decode_keypoints(int points, std::string_view flip_pairs, bool fractions) {
  return add(
      {"decode_keypoints", {{"points", double(points)}, {"flip_pairs", owned(flip_pairs)}, {"fractions", fractions}}});
}

Recipe& Recipe::decode_instances(std::string_view source) {
  return add({"decode_instances", {{"source", owned(source)}}});
}

Recipe& Recipe::decode_text(std::string_view key, int most, std::string_view longer) {
  return add({"decode_text", {{"key", owned(key)}, {"most", double(most)}, {"longer", owned(longer)}}});
}

Recipe& Recipe::decode_bytes(int most, std::string_view longer) {
  return add({"decode_bytes", {{"most", double(most)}, {"longer", owned(longer)}}});
}

Recipe& Recipe::pad_to(int count, double fill, std::string_view longer) {
  return add({"pad_to", {{"count", double(count)}, {"fill", fill}, {"longer", owned(longer)}}});
}

Recipe& Recipe::decode_tokens(int length, std::string_view part, std::string_view type, int eod, int pad,
                              std::string_view longer) {
  return add({"decode_tokens",
              {{"length", double(length)},
               {"part", owned(part)},
               {"type", owned(type)},
               {"eod", double(eod)},
               {"pad", double(pad)},
               {"longer", owned(longer)}}});
}

Recipe& Recipe::json_number(std::string_view key, std::string_view dtype) {
  return add({"json_number", {{"key", owned(key)}, {"dtype", owned(dtype)}}});
}

Recipe& Recipe::digest() { return add({"digest", {}}); }

Recipe& Recipe::rand_augment(int num_ops, int magnitude, int num_magnitude_bins, std::string_view filter,
                             std::vector<double> fill) {
  return add({"rand_augment",
              {{"num_ops", double(num_ops)},
               {"magnitude", double(magnitude)},
               {"num_magnitude_bins", double(num_magnitude_bins)},
               {"filter", owned(filter)},
               {"fill", std::move(fill)}}});
}

Recipe& Recipe::trivial_augment_wide(int num_magnitude_bins, std::string_view filter, std::vector<double> fill) {
  return add(
      {"trivial_augment_wide",
       {{"num_magnitude_bins", double(num_magnitude_bins)}, {"filter", owned(filter)}, {"fill", std::move(fill)}}});
}

Recipe& Recipe::auto_augment(std::string_view policy, std::string_view filter, std::vector<double> fill) {
  return add({"auto_augment", {{"policy", owned(policy)}, {"filter", owned(filter)}, {"fill", std::move(fill)}}});
}

Recipe& Recipe::aug_mix(int severity, int mixture_width, int chain_depth, double alpha, bool all_ops,
                        std::string_view filter, std::vector<double> fill) {
  return add({"aug_mix",
              {{"severity", double(severity)},
               {"mixture_width", double(mixture_width)},
               {"chain_depth", double(chain_depth)},
               {"alpha", alpha},
               {"all_ops", all_ops},
               {"filter", owned(filter)},
               {"fill", std::move(fill)}}});
}

Recipe& Recipe::timm_augment(std::string_view spec, std::string_view filter, std::vector<double> fill) {
  return add({"timm_augment", {{"spec", owned(spec)}, {"filter", owned(filter)}, {"fill", std::move(fill)}}});
}

Recipe& Recipe::one_hot(int classes, double smoothing) {
  return add({"one_hot", {{"classes", double(classes)}, {"smoothing", smoothing}}});
}

Recipe& Recipe::mixup(double alpha, double p, std::string_view mode, std::string_view labels, std::string_view views) {
  return add({"mixup",
              {{"alpha", alpha}, {"p", p}, {"mode", owned(mode)}, {"labels", owned(labels)}, {"views", owned(views)}}});
}

Recipe& Recipe::cutmix(double alpha, double p, std::string_view mode, std::string_view labels, std::string_view views) {
  return add({"cutmix",
              {{"alpha", alpha}, {"p", p}, {"mode", owned(mode)}, {"labels", owned(labels)}, {"views", owned(views)}}});
}

Recipe& Recipe::mixup_or_cutmix(double mixup_alpha, double cutmix_alpha, double switch_prob, double prob,
                                std::string_view mode, std::string_view labels, std::string_view views) {
  return add({"mixup_or_cutmix",
              {{"mixup_alpha", mixup_alpha},
               {"cutmix_alpha", cutmix_alpha},
               {"switch_prob", switch_prob},
               {"prob", prob},
               {"mode", owned(mode)},
               {"labels", owned(labels)},
               {"views", owned(views)}}});
}

Recipe& Recipe::mosaic(double alpha, double p, std::string_view mode, std::string_view views) {
  return add({"mosaic", {{"alpha", alpha}, {"p", p}, {"mode", owned(mode)}, {"views", owned(views)}}});
}

Recipe& Recipe::sequence(OperatorCalls operators) { return add({"sequence", {{"operators", std::move(operators)}}}); }

Recipe& Recipe::random_apply(OperatorCalls operators, double p) {
  return add({"random_apply", {{"operators", std::move(operators)}, {"p", p}}});
}

Recipe& Recipe::random_choice(OperatorCalls operators, std::vector<double> p, std::string_view mode) {
  return add({"random_choice", {{"operators", std::move(operators)}, {"p", std::move(p)}, {"mode", owned(mode)}}});
}

Recipe& Recipe::random_order(OperatorCalls operators) {
  return add({"random_order", {{"operators", std::move(operators)}}});
}

}  // namespace stoker
