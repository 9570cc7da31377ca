// The stages of a view on one image.
#pragma once

#include "stoker/ops/kernels/picture/picture_runner.h"
#include "stoker/plan/planar_path.h"
#include "stoker/plan/rgb_path.h"

namespace stoker {

/// What the stages of a view put out for one sample: enough to grant the memory of any prefix of them beforehand.
struct StageOutputs {
  StageTensor decode;    // what the next stage reads: RGB pixels of a window, or the samples of planes
  StageTensor geometry;  // resized: RGB rows x columns x 3, or planes 3 x rows x columns
  StageTensor color;     // as the batch holds it
};

/// One image at a time through the stages of a view, each of which can also run alone: a prefix of them is what the CPU
/// does when the rest happens elsewhere. Keeps scratch; one per thread.
class ImageStages {
 public:
  explicit ImageStages(DecodeLimits limits = {}) : decoder_(limits) {}

  /// Reads the header, draws the random numbers and lays out the work; returns what each stage will put out. `view` and
  /// `encoded` must stay until the last stage is done. Throws kBadSample, and kLimit for an output that is too large.
  /// `entry_points` are those of the image, if an index has them.
  StageOutputs begin(const ViewPlan& view, Bytes encoded, const SampleDraw& draw, Bytes entry_points = {});

  /// The first two stages, and the hand-over, until the next begin().
  PixelPath& path() const { return *path_; }
  /// Stage 3: the finished tensor of resized pixels or planes.
  void color(ImageView resized, std::uint8_t* out);
  /// Stages 2 and 3, in one pass unless there are operators on pictures: the same bits.
  void transform(std::uint8_t* out);

  /// What the stages will take of memory, about; and the same for whatever part of the image.
  std::uint64_t memory() const { return path_->decode_memory() + picture_bytes(); }
  std::uint64_t memory_max() const { return path_->decode_memory_max() + picture_bytes(); }

  PlaneDecodes plane_decodes() const { return decoder_.plane_decodes(); }

 private:
  bool has_picture() const { return !work_.program->picture.empty(); }
  std::uint64_t picture_bytes() const;
  template <class Write>
  void finish_picture(const Write& write, std::uint8_t* out);
  void erase(std::uint8_t* out) const;

  AnyImageDecoder decoder_;
  RgbPath rgb_;
  PlanarPath planar_;
  ImageWork work_;
  PixelPath* path_ = nullptr;  // one of the two
  PictureSteps steps_;
  EraseSteps erased_;
  PictureRunner pictures_;
  Scratch picture_;
};

}  // namespace stoker
