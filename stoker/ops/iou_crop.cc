// iou_crop: a random part of the image that holds enough of one of its objects, resized to a fixed size. The
// distribution is that of torchvision's RandomIoUCrop. As SSD is trained, the image may be put on a larger canvas
// first: then the part is one of the canvas, and still comes from one resampling.
#include <algorithm>
#include <cmath>

#include "stoker/base/error.h"
#include "stoker/ops/geometry.h"

namespace stoker {
namespace {

// torchvision goes on for ever where no part will do, as without any object.
constexpr int kRounds = 50;

struct SidedCanvas {
  int width, height, x, y;  // and where the image stands on it
};

double overlap(double begin_a, double end_a, double begin_b, double end_b) {
  return std::max(0.0, std::min(end_a, end_b) - std::max(begin_a, begin_b));
}

double iou(const ObjectBox& box, const Rect& part) {
  const double right = part.x + part.width, bottom = part.y + part.height;
  const double both = overlap(box.left, box.right, part.x, right) * overlap(box.top, box.bottom, part.y, bottom);
  const double box_area = (box.right - box.left) * (box.bottom - box.top);
  return both / (box_area + static_cast<double>(part.width) * part.height - both);
}

class IouCrop final : public GeometryOperator {
 public:
  explicit IouCrop(const OperatorCall& call)
      : size_(size_argument(call)),
        scale_min_(call.number("min_scale")),
        scale_max_(call.number("max_scale")),
        ratio_min_(call.number("min_aspect_ratio")),
        ratio_max_(call.number("max_aspect_ratio")),
        overlaps_(call.numbers("sampler_options")),
        trials_(call.integer("trials")),
        side_min_(call.numbers("side_range")[0]),
        side_max_(call.numbers("side_range")[1]),
        zoom_p_(side_max_ > 1 ? call.number("zoom_p") : 0),
        filter_(parse_filter(call.text("filter"))),
        fill_(fill_argument(call)) {
    if (scale_min_ > scale_max_ || ratio_min_ > ratio_max_) {
      fail(ErrorKind::kUsage, "min_scale and min_aspect_ratio must not be above max_scale and max_aspect_ratio");
    }
    if (side_min_ > side_max_) fail(ErrorKind::kUsage, "side_range must be given as [least, largest]");
  }

  void apply(Random& random, SamplingMap& map) const override {
    apply_to(ImageSize{map.width(), map.height()}, random, map);
  }

  void apply_to(const SeenImage& image, Random& random, SamplingMap& map) const override {
    if (map.x.shows_padding() || map.y.shows_padding()) fail(ErrorKind::kBadSample, "{}", kPaddingResized);
    const SidedCanvas canvas = draw_canvas(random, map);
    show(canvas, draw_part(random, canvas, image.boxes, map), map);
  }

  bool looks_at_boxes() const override { return true; }

  Padding padding() const override { return zoom_p_ > 0 ? Padding::kAddsButCannotBear : Padding::kCannotBear; }

  std::optional<ImageSize> output_size(std::optional<ImageSize>) const override { return size_; }

 private:
  SidedCanvas draw_canvas(Random& random, const SamplingMap& map) const {
    SidedCanvas canvas{map.width(), map.height(), 0, 0};
    if (zoom_p_ == 0 || !(random.uniform() < zoom_p_)) return canvas;
    const double side = random.uniform(side_min_, side_max_);
    canvas.width = static_cast<int>(canvas.width * side);
    canvas.height = static_cast<int>(canvas.height * side);
    canvas.x = part_of(canvas.width - map.width(), random);
    canvas.y = part_of(canvas.height - map.height(), random);
    return canvas;
  }

  Rect draw_part(Random& random, const SidedCanvas& canvas, std::span<const ObjectBox> boxes,
                 const SamplingMap& map) const {
    const Rect whole{0, 0, canvas.width, canvas.height};
    for (int round = 0; round < kRounds; ++round) {
      const double least = overlaps_[random.below(overlaps_.size())];
      if (least >= 1) return whole;
      for (int trial = 0; trial < trials_; ++trial) {
        const int width = static_cast<int>(canvas.width * random.uniform(scale_min_, scale_max_));
        const int height = static_cast<int>(canvas.height * random.uniform(scale_min_, scale_max_));
        if (width == 0 || height == 0) continue;
        const double ratio = static_cast<double>(width) / height;
        if (ratio < ratio_min_ || ratio > ratio_max_) continue;
        const int x = part_of(canvas.width - width, random), y = part_of(canvas.height - height, random);
        const Rect part{x, y, width, height};
        if (holds_one(part, least, canvas, boxes, map)) return part;
      }
    }
    return whole;
  }

  /// Whether one of the boxes whose middle is in the part has enough in common with it.
  static bool holds_one(const Rect& part, double least, const SidedCanvas& canvas, std::span<const ObjectBox> boxes,
                        const SamplingMap& map) {
    return std::any_of(boxes.begin(), boxes.end(), [&](const ObjectBox& box) {
      const ObjectBox seen = on_canvas(box, canvas, map);
      const double x = (seen.left + seen.right) / 2, y = (seen.top + seen.bottom) / 2;
      const bool inside = x > part.x && x < part.x + part.width && y > part.y && y < part.y + part.height;
      return inside && iou(seen, part) >= least;
    });
  }

  static ObjectBox on_canvas(const ObjectBox& box, const SidedCanvas& canvas, const SamplingMap& map) {
    const auto [left, right] = std::minmax({map.x.output_at(box.left), map.x.output_at(box.right)});
    const auto [top, bottom] = std::minmax({map.y.output_at(box.top), map.y.output_at(box.bottom)});
    return {left + canvas.x, top + canvas.y, right + canvas.x, bottom + canvas.y};
  }

  /// Of a part of the canvas that is resized to the output: what of the image is seen, and where.
  struct SeenAxis {
    int begin, length;  // of the image
    int place, outputs;
  };
  static SeenAxis seen_on(int part_begin, int part_length, int image_begin, int image_length, int outputs) {
    const int first = std::clamp(part_begin - image_begin, 0, image_length - 1);
    const int end = std::clamp(part_begin + part_length - image_begin, first + 1, image_length);
    const double scale = static_cast<double>(outputs) / part_length;
    const auto output_at = [&](int column) {
      return static_cast<int>(std::nearbyint((column + image_begin - part_begin) * scale));
    };
    const int place = std::clamp(output_at(first), 0, outputs - 1);
    return {first, end - first, place, std::clamp(output_at(end) - place, 1, outputs - place)};
  }

  void show(const SidedCanvas& canvas, const Rect& part, SamplingMap& map) const {
    const SeenAxis x = seen_on(part.x, part.width, canvas.x, map.width(), size_.width);
    const SeenAxis y = seen_on(part.y, part.height, canvas.y, map.height(), size_.height);
    map.x.crop(x.begin, x.length);
    map.y.crop(y.begin, y.length);
    map.resize(x.outputs, y.outputs, filter_);
    map.crop_or_pad({-x.place, -y.place, size_.width, size_.height}, fill_);
  }

  /// As torchvision rounds: from 0 to `room`, which comes next to never.
  static int part_of(int room, Random& random) { return static_cast<int>(room * random.uniform()); }

  ImageSize size_;
  double scale_min_, scale_max_, ratio_min_, ratio_max_;
  std::vector<double> overlaps_;
  int trials_;
  double side_min_, side_max_, zoom_p_;
  Filter filter_;
  std::array<std::uint8_t, 3> fill_;
};

}  // namespace

std::unique_ptr<GeometryOperator> make_iou_crop(const OperatorCall& call) { return std::make_unique<IouCrop>(call); }

}  // namespace stoker
