#include "stoker/plan/image_stages.h"

namespace stoker {

void ImageStages::begin(const ViewPlan& view, const CodedImage& image, const SampleDraw& draw) {
  const DecodeOptions& options = view.image.decode;
  const ImageFacts& facts = image.facts;
  work_.program = &view.image;
  work_.image = &image;
  work_.orientation = options.apply_orientation ? facts.orientation : Orientation{1};
  const bool sides_exchanged = turn_of(work_.orientation).transpose;
  work_.map = view.image.geometry.draw(
      sides_exchanged ? ImageSize{facts.height, facts.width} : ImageSize{facts.width, facts.height}, draw);
  path_ = &rgb_;
  if (options.mode == DecodeMode::kPlanar) {
    planar_.begin(work_);
    if (planar_.takes_it()) path_ = &planar_;
  }
  if (path_ == &rgb_) rgb_.begin(work_);
  outputs_ = {.decode = path_->decoded(),
              .geometry = path_->resized(),
              .color = {view.image.format.dtype, Plan::image_shape_of(view, work_.size())}};
}

bool ImageStages::may_share_with(const ImageStages& other) const {
  const bool both_planar = path_ == &planar_ && other.path_ == &other.planar_;
  const bool both_rgb = path_ == &rgb_ && other.path_ == &other.rgb_;
  return work_.image == other.work_.image && work_.orientation == other.work_.orientation && (both_planar || both_rgb);
}

}  // namespace stoker
