// Keypoints go where their image goes. A point is a pixel: (0, 0) is the middle of the first one.
#pragma once

#include <span>
#include <vector>

#include "stoker/ops/object_options.h"
#include "stoker/plan/box_reader.h"
#include "stoker/plan/elastic_field.h"
#include "stoker/plan/image_course.h"

namespace stoker {

/// Keeps scratch memory; one per thread.
class PointStage {
 public:
  /// Writes x, y and visibility of each point of each object. What is not seen is 0, 0, 0. `details` are those that
  /// read_boxes() gives. Throws kBadSample for objects with another number of points; one without any has none to be
  /// seen.
  void write(const PointOptions& options, std::span<const LabeledBox> objects, std::span<const ObjectDetails> details,
             const ImageCourse& course, float* out);

 private:
  struct Point {
    double x, y;
    bool seen;
  };

  void read(const PointOptions& options, std::span<const LabeledBox> objects, std::span<const ObjectDetails> details);
  void show(const ImageCourse& course);
  void warp(const PictureStep& step, ImageSize out);
  void follow_field(const PictureStep& step, ImageSize in, ImageSize out);
  void clip(double left, double top, double right, double bottom);

  std::vector<Point> points_;
  FieldPlaces places_;
};

/// The numbers of an object's points; none if it has no points. Throws kBadSample for another number of them.
std::span<const double> points_of(const PointOptions& options, const ObjectDetails& object);
/// Whether left and right have changed places.
bool mirrors(const ImageCourse& course);
/// Three numbers of a point that is seen: the place is from the upper left corner of the output.
void store_point(const PointOptions& options, double x, double y, double visibility, ImageSize size, float* out);

}  // namespace stoker
