// Boxes go where their image goes. What is left of one is the smallest box, with sides along the axes, that holds what
// is seen of it; what is outside of the output is cut off.
#pragma once

#include <vector>

#include "stoker/plan/box_reader.h"
#include "stoker/plan/elastic_field.h"
#include "stoker/plan/image_course.h"

namespace stoker {

/// Keeps scratch memory; one per thread.
class BoxStage {
 public:
  /// The boxes of the text that are kept, in pixels of the output and in the order of the text, until the next call.
  /// Throws kBadSample for a text that is not sound, and for more boxes than the options allow.
  const std::vector<LabeledBox>& run(const BoxOptions& options, Bytes text, const ImageCourse& course);
  /// What the text says besides, as read_boxes() gives it, if the options ask for it.
  const std::vector<ObjectDetails>& details() const { return details_; }

 private:
  void show(const ImageCourse& image);
  void warp(const PictureStep& step, ImageSize out);
  void follow_field(const PictureStep& step, ImageSize in, ImageSize out);
  void clip(double left, double top, double right, double bottom);

  struct Course {
    LabeledBox box;
    double visible = 1;  // share of its area
  };
  bool middle_seen_ = false;
  double visible_min_ = 0;
  std::vector<LabeledBox> boxes_;
  std::vector<ObjectDetails> details_;
  std::vector<Course> courses_;
  FieldPlaces places_;
};

/// Whether so much is seen of a whole box, once it is cut, that it is kept.
bool is_kept(const BoxOptions& options, const LabeledBox& seen, const LabeledBox& whole);

/// The four numbers of a box of an output of this size.
void store_box(const BoxOptions& options, const LabeledBox& box, ImageSize size, float* out);
/// The box that has these numbers.
LabeledBox load_box(const BoxOptions& options, ImageSize size, const float* numbers);

}  // namespace stoker
