#include "stoker/plan/image_stages.h"

#include "stoker/ops/kernels/erase/erase_tensor.h"
#include "stoker/ops/kernels/resample/convert.h"

namespace stoker {

ImageSize upright_size(const ImageFacts& facts, const DecodeOptions& options) {
  const bool exchanged = turn_of(options.apply_orientation ? facts.orientation : Orientation{1}).transpose;
  return exchanged ? ImageSize{facts.height, facts.width} : ImageSize{facts.width, facts.height};
}

void ImageStages::begin(const ViewPlan& view, const CodedImage& image, const SeenImage& seen, const SampleDraw& draw,
                        bool for_device) {
  const DecodeOptions& options = view.image.decode;
  const ImageFacts& facts = image.facts;
  work_.program = &view.image;
  work_.image = &image;
  work_.orientation = options.apply_orientation ? facts.orientation : Orientation{1};
  upright_ = seen.size;
  sampling_ = view.image.draw(seen, draw);
  if (!for_device) sampling_.shorten();
  if (options.mode == DecodeMode::kPlanar && image.planes.count > 0) sampling_.fill_as_planes_do();
  work_.map = sampling_.map;
  work_.size = sampling_.size;
  work_.color = view.image.color;
  work_.format = view.image.format;
  if (has_picture()) {
    view.image.picture.draw(work_.size, draw, steps_, sampling_.steps());
    work_.color = {};
    work_.format = kPictureFormat;
  }
  view.image.erase.draw(work_.size, draw, erased_);
  path_ = &rgb_;
  if (options.mode == DecodeMode::kPlanar) {
    planar_.begin(work_);
    if (planar_.takes_it()) path_ = &planar_;
  }
  if (path_ == &rgb_) rgb_.begin(work_);
  outputs_ = {.decode = path_->decoded(),
              .geometry = path_->resized(),
              .color = {view.image.format.dtype, Plan::image_shape_of(view, work_.size)}};
}

bool ImageStages::may_share_with(const ImageStages& other) const {
  const bool both_planar = path_ == &planar_ && other.path_ == &other.planar_ && planar_.may_share_with(other.planar_);
  const bool both_rgb = path_ == &rgb_ && other.path_ == &other.rgb_;
  return work_.image == other.work_.image && work_.orientation == other.work_.orientation && (both_planar || both_rgb);
}

ImageCourse ImageStages::course() const {
  return {.image = upright_,
          .map = sampling_.map,
          .shown = sampling_.image,
          .size = sampling_.size,
          .steps = has_picture() ? steps_.all() : std::span<const PictureStep>()};
}

std::uint64_t ImageStages::picture_memory() const { return has_picture() ? picture_layout().bytes : 0; }

std::uint64_t ImageStages::picture_memory_max() const {
  if (!has_picture()) return 0;
  const ImageProgram& program = *work_.program;
  const ImageSize most = program.geometry.output_size().value_or(work_.size);
  return PictureLayout(program.picture.bounds(), most, program.source_warp.canvas(most)).bytes;
}

PictureLayout ImageStages::picture_layout() const {
  return {work_.program->picture.bounds(), work_.size, {work_.map.width(), work_.map.height()}};
}

// `write` writes the picture that the operators begin with.
template <class Write>
void ImageStages::finish_picture(const Write& write, std::uint8_t* out) {
  const ImageProgram& program = *work_.program;
  const ImageSize size = work_.size;
  const PictureLayout layout = picture_layout();
  std::uint8_t* const memory = scratch_.picture.bytes(layout.bytes);
  write(memory);
  const std::uint8_t* const planes = scratch_.pictures.run(steps_.all(), size, layout, memory);
  const ImageView picture{
      planes, size.width, size.height, ColorMap::kChannels, size.width, 1, std::ptrdiff_t{size.width} * size.height};
  convert_pixels(picture, program.color, program.format, out);
}

void ImageStages::erase(std::uint8_t* out) const {
  erase_tensor(erased_.all(), work_.size, work_.program->format, out);
}

void ImageStages::color(ImageView resized, std::uint8_t* out) {
  if (has_picture()) {
    finish_picture([&](std::uint8_t* picture) { path_->color(resized, picture); }, out);
  } else {
    path_->color(resized, out);
  }
  erase(out);
}

void ImageStages::transform(std::uint8_t* out) {
  if (has_picture()) {
    finish_picture([&](std::uint8_t* picture) { path_->transform(picture); }, out);
  } else {
    path_->transform(out);
  }
  erase(out);
}

}  // namespace stoker
