#include "stoker/plan/image_stages.h"

namespace stoker {

StageOutputs ImageStages::begin(const ViewPlan& view, Bytes encoded, const SampleDraw& draw, Bytes entry_points) {
  work_ = {.program = &view.image,
           .encoded = encoded,
           .entry_points = entry_points,
           .decoder = &decoder_,
           .facts = decoder_.read_facts(encoded),
           .orientation = 1,
           .map = {}};
  const DecodeOptions& options = view.image.decode;
  if (options.apply_orientation) work_.orientation = work_.facts.orientation;
  const bool sides_exchanged = turn_of(work_.orientation).transpose;
  work_.map = view.image.geometry.draw(sides_exchanged ? ImageSize{work_.facts.height, work_.facts.width}
                                                       : ImageSize{work_.facts.width, work_.facts.height},
                                       draw);
  path_ = &rgb_;
  if (options.mode == DecodeMode::kPlanar) {
    planar_.begin(work_);
    if (planar_.takes_it()) path_ = &planar_;
  }
  if (path_ == &rgb_) rgb_.begin(work_);
  return {.decode = path_->decoded(),
          .geometry = path_->resized(),
          .color = {view.image.format.dtype, Plan::image_shape_of(view, work_.size())}};
}

}  // namespace stoker
