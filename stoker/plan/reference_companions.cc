#include "stoker/plan/reference_companions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/ops/picture/warp.h"
#include "stoker/ops/picture/warp_meaning.h"
#include "stoker/plan/instance_stage.h"
#include "stoker/plan/point_stage.h"
#include "stoker/plan/reference_points.h"
#include "stoker/plan/reference_way.h"

namespace stoker {
namespace {

/// A mask of 0 and 1, column by column.
class PlainMask {
 public:
  explicit PlainMask(ImageSize size)
      : height_(size.height),
        pixels_(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height)),
        width_(size.width) {}

  bool at(SourcePixel pixel) const {
    return pixels_[static_cast<std::size_t>(pixel.x) * static_cast<std::size_t>(height_) +
                   static_cast<std::size_t>(pixel.y)];
  }

  /// All along the outline, in steps of a fifth of a pixel; then down the columns, changing at each place that was met.
  void add_outline(const std::vector<double>& corners) {
    std::vector<std::array<int, 2>> met;
    for (std::size_t i = 0; i < corners.size() && corners.size() >= 6; i += 2) {
      const std::size_t next = (i + 2) % corners.size();
      walk(corner(corners, i), corner(corners, next), met);
    }
    std::vector<std::size_t> changes(pixels_.size() + 1);
    for (std::size_t i = 0; i < met.size(); ++i) {
      const std::array<int, 2>&here = met[i], &before = met[i == 0 ? met.size() - 1 : i - 1];
      if (here[0] == before[0]) continue;
      const double column = (std::min(here[0], before[0]) + 0.5) / 5 - 0.5;
      const double row = (std::min(here[1], before[1]) + 0.5) / 5 - 0.5;
      if (column != std::floor(column) || column < 0 || column > width_ - 1) continue;
      const double from = std::ceil(std::clamp(row, 0.0, static_cast<double>(height_)));
      ++changes[static_cast<std::size_t>(column) * static_cast<std::size_t>(height_) + static_cast<std::size_t>(from)];
    }
    std::size_t changed = 0;
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      changed += changes[i];
      pixels_[i] = pixels_[i] || changed % 2 != 0;
    }
  }

  void add_runs(const std::vector<std::int64_t>& lengths) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      for (std::int64_t k = 0; k < lengths[i]; ++k) pixels_[at++] = i % 2 != 0;
    }
  }

 private:
  static std::array<int, 2> corner(const std::vector<double>& corners, std::size_t i) {
    return {static_cast<int>(5 * corners[i] + 0.5), static_cast<int>(5 * corners[i + 1] + 0.5)};
  }

  static void walk(std::array<int, 2> from, std::array<int, 2> to, std::vector<std::array<int, 2>>& met) {
    const int across = std::abs(to[0] - from[0]), down = std::abs(to[1] - from[1]);
    const std::size_t along = across >= down ? 0 : 1;
    const int steps = std::max(across, down);
    const bool backwards = from[along] > to[along];
    if (backwards) std::swap(from, to);
    const std::size_t begin = met.size();
    for (int step = 0; step <= steps; ++step) {
      const double slope = steps == 0 ? 0 : static_cast<double>(to[1 - along] - from[1 - along]) / steps;
      std::array<int, 2> point;
      point[along] = from[along] + step;
      point[1 - along] = static_cast<int>(from[1 - along] + slope * step + 0.5);
      met.push_back(point);
    }
    if (backwards) std::reverse(met.begin() + static_cast<std::ptrdiff_t>(begin), met.end());
  }

  int height_;
  std::vector<bool> pixels_;
  int width_;
};

/// Of all pixels of the output the one that shows the place nearest to the point.
std::optional<SeenPoint> in_field(const PictureStep& step, SeenPoint point, ImageSize in, ImageSize out) {
  PicturePass pass{};
  pass.steps = &step;
  pass.in_width = in.width;
  pass.in_height = in.height;
  std::optional<SeenPoint> found;
  double nearest = 1;
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const WarpPlace place = elastic_place(pass, x, y);
      if (place.x == -WarpPlace::kOne || place.y == -WarpPlace::kOne) continue;
      const double across = point.x - static_cast<double>(place.x) / WarpPlace::kOne;
      const double down = point.y - static_cast<double>(place.y) / WarpPlace::kOne;
      const double distance = across * across + down * down;
      if (distance < nearest) nearest = distance, found = SeenPoint{x + across, y + down};
    }
  }
  return found;
}

std::optional<SeenPoint> where_seen(const ImageCourse& course, double x, double y) {
  constexpr double kHalf = 0.5;
  std::optional<SeenPoint> point = SeenPoint{output_of(course.map.x, x), output_of(course.map.y, y)};
  const Area& shown = course.shown;
  if (!(point->x >= shown.left && point->y >= shown.top && point->x < shown.right && point->y < shown.bottom))
    return {};
  ImageSize size{course.map.width(), course.map.height()};
  for (const PictureStep& step : course.steps) {
    const SeenPoint middle{point->x - kHalf, point->y - kHalf};
    if (step.kind == PictureKind::kFrame) {
      if (point->x < step.n[0] || point->y < step.n[1] || point->x >= step.n[2] || point->y >= step.n[3]) return {};
      continue;
    }
    if (step.kind == PictureKind::kWarp) {
      point = before_warp(step, middle);
      if (point && !is_ahead(step, *point)) return {};
    } else if (step.kind == PictureKind::kElastic) {
      point = in_field(step, middle, size, course.size);
    } else {
      continue;
    }
    size = course.size;
    if (!point) return {};
    point = SeenPoint{point->x + kHalf, point->y + kHalf};
    if (!(point->x >= 0 && point->y >= 0 && point->x < size.width && point->y < size.height)) return {};
  }
  return point;
}

}  // namespace

namespace {

PlainMask plain_mask_of(const ObjectDetails& shape, ImageSize image) {
  ObjectMask checked;
  read_shape(shape, image, checked);
  PlainMask mask(image);
  for (const std::vector<double>& outline : shape.outlines) mask.add_outline(outline);
  if (shape.shape == ObjectDetails::ShapeKind::kRuns) mask.add_runs(shape.runs);
  if (shape.shape == ObjectDetails::ShapeKind::kCodedRuns) mask.add_runs(decode_runs(shape.coded_runs));
  return mask;
}

/// The classes of all pixels of an image, row by row.
std::vector<std::int64_t> classes_of_objects(const MaskOptions& options, Bytes json, ImageSize image) {
  const std::vector<CocoObject> objects = read_coco_objects(as_text(json), true);
  std::vector<PlainMask> masks;
  std::vector<std::int64_t> of_object, classes;
  for (const CocoObject& object : objects) {
    of_object.push_back(class_of_object(options, object));
    masks.push_back(plain_mask_of(object.details, image));
  }
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      std::optional<std::int64_t> found;
      for (std::size_t i = 0; i < masks.size(); ++i) {
        if (!masks[i].at({x, y})) continue;
        found = !found || *found == of_object[i] ? of_object[i] : options.fill;
      }
      classes.push_back(found.value_or(options.class_of(0)));
    }
  }
  return classes;
}

}  // namespace

void reference_mask(const MaskOptions& options, Bytes encoded, const DecodeLimits& limits, const ImageCourse& course,
                    MutableBytes out) {
  MaskDecoder decoder(limits);
  MaskPixels mask;
  std::vector<std::int64_t> classes;
  if (options.of_objects) {
    classes = classes_of_objects(options, encoded, course.image);
  } else {
    mask = decoder.decode(encoded, options.codes);
    require_size_of_image(mask, course.image);
  }
  const auto class_at = [&](SourcePixel at) {
    return options.of_objects ? classes[static_cast<std::size_t>(at.y) * static_cast<std::size_t>(course.image.width) +
                                        static_cast<std::size_t>(at.x)]
                              : options.class_of(mask.at(at.x, at.y));
  };
  const ReferenceWay way(course);
  std::size_t pixel = 0;
  for (int y = 0; y < course.size.height; ++y) {
    for (int x = 0; x < course.size.width; ++x) {
      const std::optional<SourcePixel> from = way.source_of(x, y);
      store_class(options, from ? class_at(*from) : options.fill, out, pixel++);
    }
  }
}

void reference_keypoints(const PointOptions& options, std::span<const LabeledBox> objects,
                         std::span<const ObjectDetails> details, const ImageCourse& course, float* out) {
  const bool mirrored = mirrors(course);
  for (const LabeledBox& object : objects) {
    const std::span<const double> numbers = points_of(options, details[object.number]);
    for (std::size_t point = 0; point < options.count; ++point, out += 3) {
      std::fill_n(out, 3, 0.0F);
      const std::size_t from = 3 * (mirrored ? options.mirror[point] : point);
      if (numbers.empty() || !(numbers[from + 2] > 0)) continue;
      const std::optional<SeenPoint> place = where_seen(course, numbers[from] + 0.5, numbers[from + 1] + 0.5);
      if (place) store_point(options, place->x, place->y, numbers[from + 2], course.size, out);
    }
  }
}

void reference_instances(InstanceSource source, std::span<const LabeledBox> objects,
                         std::span<const ObjectDetails> details, Bytes encoded, const DecodeLimits& limits,
                         const ImageCourse& course, MutableBytes out) {
  const ReferenceWay way(course);
  MaskDecoder decoder(limits);
  MaskPixels ids;
  if (source != InstanceSource::kShapes) {
    ids = decoder.decode(encoded, codes_of(source));
    require_size_of_image(ids, course.image);
  }
  std::size_t pixel = 0;
  for (const LabeledBox& object : objects) {
    const PlainMask mask = source == InstanceSource::kShapes ? plain_mask_of(details[object.number], course.image)
                                                             : PlainMask(course.image);
    for (int y = 0; y < course.size.height; ++y) {
      for (int x = 0; x < course.size.width; ++x) {
        const std::optional<SourcePixel> from = way.source_of(x, y);
        const bool covered =
            from && (source == InstanceSource::kShapes ? mask.at(*from) : ids.at(from->x, from->y) == id_of(object));
        out[pixel++] = covered ? 1 : 0;
      }
    }
  }
}

}  // namespace stoker
